"""The command line, put together from its verbs. The one place where an error becomes an exit code.

0 all green · 1 a gate is red · 2 usage or runbook error · 3 blocked or waiting for the operator · 4 corrupt state
130 stopped
"""

import os
import sys
from typing import Annotated, cast

import typer

from omnitui import __version__
from omnitui.errors import OmniError, UsageError
from omnitui.headless import say
from omnitui.sanitise import plain
from omnitui.verbs import deciding, looking, preparing, results, running

app = typer.Typer(
    help="Runbooks for GPU serving benchmarks as checklists that run their commands and earn every green.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for room in (running, looking, deciding, preparing, results):
    app.add_typer(room.app)

# Newer Typers carry a click of their own, so the base of their errors is found through one of them.
_ClickException = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[2])


def run_cli(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code."""
    try:
        result = app(arguments, standalone_mode=False)
    except typer.Abort:
        return 130
    except _ClickException as error:
        error.show()
        return UsageError.exit_code
    except OmniError as error:
        sys.stderr.write(f"omnitui: {plain(str(error))}\n")
        return error.exit_code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    return result if isinstance(result, int) else 0


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """Entry of all verbs."""
    if version:
        say(f"omnitui {__version__}")
        raise typer.Exit
