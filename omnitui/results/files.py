"""Reading the JSON files that benchmark clients wrote, with all that may be wrong with them."""

import json
import math
import re
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import jmespath

from omnitui.errors import OmniError


class ResultError(OmniError):
    """A result file, or a field in it, is missing or unusable."""


_HALF = re.compile(r"\\u[dD][89a-fA-F]")
"""Where half a character may stand: an escape of UTF-16 without its other half."""
_DIGITS = 300
"""A number with more of them is no float."""
_UNREAD = bytes(sha256().digest_size)
"""Stands for the digest of a file that cannot be read."""


def read_json(path: Path) -> Any:
    """The content of a result file. `NaN` and `Infinity` are read as Python does; whoever uses them must look.

    A whole number that no float can hold reads as infinite, half a character as U+FFFD: neither could be stored.
    """
    try:
        if not path.is_file() and path.exists():
            raise ResultError(f"{path.name} cannot be read: it is no file")
        text = path.read_text(encoding="utf-8")
        data = json.loads(text, parse_int=_whole)
        return _storable(data) if _HALF.search(text) else data
    except FileNotFoundError as error:
        raise ResultError(f"{path.name} is missing") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ResultError(f"{path.name} cannot be read: {error}") from error
    except (ValueError, RecursionError) as error:
        raise ResultError(f"{path.name} is not whole JSON ({error})") from error


def content_of(files: Iterable[Path]) -> str:
    """The SHA-256 of what the files hold, in their order and without their names; empty when none can be read.

    One that cannot be read keeps its place: two measurements that lack different files are not alike.
    """
    found = []
    for path in files:
        digest = _UNREAD
        with suppress(OSError):
            digest = sha256(path.read_bytes()).digest()
        found.append(digest)
    return sha256(b"".join(found)).hexdigest() if any(one != _UNREAD for one in found) else ""


def is_older(path: Path, than: float) -> bool:
    """Whether a file was last written before `than` (epoch seconds); one that is not there was not."""
    try:
        return path.stat().st_mtime < than
    except OSError:
        return False


def _whole(digits: str) -> float:
    return int(digits) if len(digits) <= _DIGITS else float(digits)


def worded(value: Any) -> Any:
    """The same with a word for each number that is not finite: JSON would have one `null` for all of them."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, list):
        return [worded(one) for one in value]
    if isinstance(value, dict):
        return {key: worded(one) for key, one in value.items()}
    return value


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_storable(one) for one in value]
    if isinstance(value, dict):
        return {_storable(key): _storable(one) for key, one in value.items()}
    return value


def search(path: str, data: Any) -> Any:
    """The value at a JMESPath, or None."""
    try:
        return jmespath.search(path, data)
    # A wrong path, or a function of it that the data do not fit: `ceil` of NaN, `floor` of infinity.
    except (ValueError, ArithmeticError) as error:
        raise ResultError(f"the path {path!r} is wrong: {error}") from error
