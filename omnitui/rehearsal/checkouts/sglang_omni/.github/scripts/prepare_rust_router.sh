# stand-in: "build" the router, and print where it is.
set -e
echo "stand-in prepare_rust_router.sh: nothing is built" >&2
router=$HOME/rust-router/stand-in-router
mkdir -p "$HOME/rust-router"
printf '#!/bin/sh\n# stand-in router\n' > "$router"
chmod +x "$router"
echo "$router"
