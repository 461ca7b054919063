"""One look that a child process takes, because what it asks may hang, or is slow to import."""

import os
import subprocess
import sys
from collections.abc import Mapping
from typing import TypeVar

import msgspec

_T = TypeVar("_T")


class NotSeen(Exception):
    """Why there is no reading, in words."""


def one_look(
    module: str, request: msgspec.Struct, kind: type[_T], at: str, patience_s: float, env: Mapping[str, str]
) -> _T:
    """What `python -m module` prints as its last line when it reads the request as JSON. Raises `NotSeen`.

    `at` is what is looked at, for the words; `env` comes over our own environment. Blocks at most `patience_s`.
    """
    try:
        child = subprocess.run(
            [sys.executable, "-m", module],
            input=msgspec.json.encode(request),
            capture_output=True,
            timeout=patience_s,
            env={**os.environ, **env},
            check=False,
        )
        return msgspec.json.decode(child.stdout.rpartition(b"\n")[2], type=kind)
    except subprocess.TimeoutExpired as error:
        raise NotSeen(f"{at} did not answer within {patience_s:.0f} s") from error
    except OSError as error:
        raise NotSeen(f"the look at {at} could not be started: {error.strerror}") from error
    except msgspec.MsgspecError as error:
        said = child.stderr.decode(errors="replace").strip().splitlines()
        raise NotSeen(f"the look at {at} failed: {said[-1] if said else 'it said nothing'}") from error
