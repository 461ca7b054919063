"""From a folder with `runbook.toml` to a `Runbook`, or an error with file, key and the nearest valid name."""

import hashlib
import os
import re
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from omnitui.errors import RunbookError, UsageError
from omnitui.runbook.schema import TABLES, Runbook
from omnitui.runbook.shelf import FILE, available, library

__all__ = ["FILE", "available", "digest", "files_of", "library", "load", "locate"]
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>[^`]*)`(?: - at `\$(?P<at>[^`]*)`)?")
_TAG = re.compile(r"Invalid (?:enum )?value '(?P<name>[^']*)'(?: - at `\$(?P<at>[^`]*)`)?")
_UNQUOTED = re.compile(r"Expected `str(?: \| null)?`, got `(?P<got>int|float|bool)`")
_AT = re.compile(r"(?P<reason>.*?)(?: - at `(?:key in )?\$(?P<at>[^`]*)`)?$")


def locate(name: str) -> Path:
    """The folder of a runbook, given its id, its folder, or its `runbook.toml`."""
    path = Path(name)
    try:
        if path.name == FILE and path.is_file():
            return path.parent.absolute()
        if (path / FILE).is_file():
            return path.absolute()
        if (library() / name / FILE).is_file():
            return library() / name
    except OSError as error:
        raise UsageError(f"runbook {name[:200]} cannot be read: {error.strerror}") from error
    near = get_close_matches(name, available(), n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(available())}"
    raise UsageError(f"no runbook {name}: not an id, nor a folder with {FILE}; {hint}")


def load(folder: Path) -> Runbook:
    """Read `runbook.toml` in `folder`. Raises `RunbookError`."""
    file = folder / FILE
    try:
        raw = tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise RunbookError(file, "", f"not TOML: {error}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise RunbookError(file, "", f"cannot be read: {error}") from error
    schema = raw.get("schema", 1)
    if isinstance(schema, int) and schema != 1:
        raise RunbookError(file, "schema", f"{schema} is not known here; this OmniTUI reads 1")
    _imply_command(raw)
    _take_lines(file, raw)
    try:
        for table in ("variables", "places", "environments", "servers"):
            _convert_named(raw.get(table), table)
        return msgspec.convert(raw, Runbook)
    except msgspec.ValidationError as error:
        raise _explained(file, str(error)) from error


def digest(folder: Path) -> str:
    """SHA-256 over the names and bytes of every file of the runbook, caches aside. Raises `RunbookError`."""
    sha = hashlib.sha256()
    try:
        for file in sorted(files_of(folder)):
            sha.update(os.fsencode(file.relative_to(folder)) + b"\0")
            sha.update(hashlib.sha256(file.read_bytes()).digest())
    except OSError as error:
        raise RunbookError(Path(error.filename or folder), "", f"cannot be read: {error.strerror}") from error
    return sha.hexdigest()


def files_of(folder: Path) -> list[Path]:
    """The files that make up a runbook."""
    return [
        path
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.relative_to(folder).parts
    ]


def _imply_command(raw: dict[str, Any]) -> None:
    # Most steps are commands: a page of them should not say so forty times.
    for phase in _tables_in(raw.get("phases")):
        for step in _tables_in(phase.get("steps")):
            step.setdefault("do", "command")


def _take_lines(file: Path, raw: dict[str, Any]) -> None:
    """Give each step with `run_of` the script of the step that it names."""
    steps = [step for phase in _tables_in(raw.get("phases")) for step in _tables_in(phase.get("steps"))]
    known = {str(step.get("id")): step["run"] for step in steps if "run" in step}
    for step in steps:
        if "run_of" not in step:
            continue
        key, name = f"steps.{step.get('id')}.run_of", str(step.pop("run_of"))
        if "run" in step:
            raise RunbookError(file, key, "a step has run or run_of, not both")
        if name not in known:
            raise RunbookError(file, key, f"there is no step {name} with a run of its own{_near(name, [*known])}")
        step["run"] = known[name]


def _tables_in(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _convert_named(entries: Any, table: str) -> None:
    # msgspec writes `[...]` for the name of a table's entry; converted one by one, the error can say it.
    for name, entry in entries.items() if isinstance(entries, dict) else ():
        try:
            msgspec.convert(entry, TABLES[table][0])
        except msgspec.ValidationError as error:
            reason, _, at = str(error).partition(" - at `$")
            field, inner, _ = at.rstrip("`").partition("[...]")
            if inner:
                wrong = (key for key, value in entry[field[1:]].items() if not isinstance(value, str))
                field = f"{field}.{next(wrong)}"
            raise msgspec.ValidationError(f"{reason} - at `$.{table}.{name}{field}`") from None


def _explained(file: Path, message: str) -> RunbookError:
    if match := _UNKNOWN.match(message):
        at, name = match["at"] or "", match["name"]
        return RunbookError(file, _key(at, name), f"unknown key{_near(name, _fields(at))}")
    if match := _TAG.match(message):
        at, name = match["at"] or "", match["name"]
        return RunbookError(file, _key(at), f"{name!r} is not a choice{_near(name, _choices(at))}")
    match = _AT.match(message)
    reason, at = (match["reason"], match["at"] or "") if match else (message, "")
    if unquoted := _UNQUOTED.fullmatch(reason):
        reason = f"expected `str`, got `{unquoted['got']}`; put it in quotes"
    return RunbookError(file, _key(at), reason[:1].lower() + reason[1:])


def _key(at: str, name: str = "") -> str:
    return ".".join(part for part in (at.lstrip("."), name) if part)


def _near(name: str, valid: list[str]) -> str:
    near = get_close_matches(name, valid, n=1, cutoff=0.5)
    if near:
        return f"; did you mean {near[0]}?"
    return f"; valid here: {', '.join(valid)}" if valid else ""


def _tables(at: str) -> tuple[type[msgspec.Struct], ...]:
    known = [part for part in re.findall(r"[A-Za-z_]+", at) if part in TABLES]
    return TABLES[known[-1] if known else ""]


def _fields(at: str) -> list[str]:
    fields = dict.fromkeys(name for table in _tables(at) for name in table.__struct_fields__)
    tags = dict.fromkeys(str(t.__struct_config__.tag_field) for t in _tables(at) if t.__struct_config__.tag_field)
    return [*fields, *tags]


def _choices(at: str) -> list[str]:
    field = at.rpartition(".")[2]
    tags = [str(t.__struct_config__.tag) for t in _tables(at) if t.__struct_config__.tag_field == field]
    hints = (get_type_hints(table).get(field) for table in _tables(at))
    literals = (one for hint in hints for one in (hint, *get_args(hint)) if get_origin(one) is Literal)
    return tags or list(dict.fromkeys(str(choice) for one in literals for choice in get_args(one)))
