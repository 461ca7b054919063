# stand-in: what an environment depends on, as one number.
omni_ci_deps_hash() {
    sha256sum < pyproject.toml | cut -c 1-64
}
