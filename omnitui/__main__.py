"""`omnitui` alone opens the app; with arguments it is the command line."""

import gc
import io
import sys


def main() -> None:
    """The entry point."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets another; it is no reason to end.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    if len(sys.argv) == 1 and sys.stdout.isatty():
        # The command line's own imports would cost the app 40 ms before its first paint, and looking for garbage
        # among freshly imported modules another 20.
        gc.disable()
        from omnitui.ui.app import open_app  # noqa: PLC0415

        gc.freeze()
        gc.enable()
        sys.exit(open_app())
    from omnitui.cli import run_cli  # noqa: PLC0415

    sys.exit(run_cli())


if __name__ == "__main__":
    main()
