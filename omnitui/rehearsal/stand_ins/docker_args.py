"""The options of `docker`, as far as runbooks use them."""

from collections.abc import Iterable

_LONG = {
    "-e": "--env", "-v": "--volume", "-w": "--workdir", "-f": "--force", "-d": "--detach", "-i": "--interactive",
    "-t": "--tty", "-a": "--all", "-q": "--quiet", "--net": "--network", "-h": "--hostname", "-u": "--user",
}  # fmt: skip
_WITH_VALUE = {
    "--name", "--env", "--env-file", "--volume", "--mount", "--gpus", "--cpuset-cpus", "--ipc", "--cap-add",
    "--shm-size", "--network", "--workdir", "--format", "--ulimit", "--entrypoint", "--label", "--user",
    "--hostname", "--device", "--memory", "--pid", "--security-opt", "--time", "--signal", "--publish", "--type",
    "--filter", "--restart", "--runtime", "--pull", "--platform",
}  # fmt: skip


class Options:
    """Options in the order they were given, by their long names."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._pairs = list(pairs)

    def all(self, name: str) -> list[str]:
        """Every value of an option."""
        return [value for key, value in self._pairs if key == name]

    def last(self, name: str) -> str:
        """The value that counts, or an empty string."""
        return next(iter(reversed(self.all(name))), "")

    def has(self, name: str) -> bool:
        """Whether it was given."""
        return any(key == name for key, _ in self._pairs)


def split(argv: list[str]) -> tuple[Options, str, list[str]]:
    """Options, the first word that is none (an image, a container), and what follows it."""
    pairs: list[tuple[str, str]] = []
    rest = list(argv)
    while rest and rest[0].startswith("-") and rest[0] != "--":
        pairs += _taken(rest)
    words = rest[1:] if rest[:1] == ["--"] else rest
    # `docker rm NAME -f` and `docker inspect NAME --format F` are as good.
    if words and not pairs and len(words) > 1 and words[1] in ("-f", "--force", "--format"):
        tail = words[1:]
        force = "--force" if len(tail) == 1 else "--format"
        return Options([(force, tail[1] if len(tail) > 1 else "")]), words[0], []
    return Options(pairs), words[0] if words else "", words[1:]


def _taken(rest: list[str]) -> list[tuple[str, str]]:
    word = rest.pop(0)
    if not word.startswith("--") and len(word) > 2 and word[:2] not in ("-e", "-v", "-w", "-f"):
        return [(_LONG.get(f"-{letter}", f"-{letter}"), "") for letter in word[1:]]
    if not word.startswith("--") and len(word) > 2:
        return [(_LONG[word[:2]], word[2:])]
    name, equals, value = word.partition("=")
    name = _LONG.get(name, name)
    if name == "--force" and rest and "{{" in rest[0]:
        name = "--format"
    if not equals and name in _WITH_VALUE:
        value = rest.pop(0) if rest else ""
    return [(name, value)]


def mount(text: str) -> dict[str, str]:
    """A folder of the host and its place in the container, from `A:B[:ro]` or `type=bind,source=A,target=B`."""
    if "=" in text.partition(":")[0]:
        parts = dict(part.partition("=")[::2] for part in text.split(","))
        source = parts.get("source", parts.get("src", ""))
        return {
            "Source": source,
            "Destination": parts.get("target", parts.get("dst", parts.get("destination", ""))),
        }
    source, _, rest = text.partition(":")
    return {"Source": source.rstrip("/") or "/", "Destination": rest.partition(":")[0].rstrip("/") or "/"}


def gpus(text: str) -> list[str]:
    """The cards of `--gpus`: `device=0`, `"device=0,1"`, `all`, or nothing."""
    plain = text.strip('"')
    if plain in ("", "all"):
        return [plain] if plain else []
    return [name for name in plain.removeprefix("device=").split(",") if name]
