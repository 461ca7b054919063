"""Just enough of Go's templates for `docker inspect --format` and `docker ps --format`."""

import json
import re
from typing import Any

_ACTION = re.compile(r"\{\{\s*(.*?)\s*\}\}")


def rendered(form: str, data: Any) -> str:
    r"""The template with `{{.A.B}}`, `{{json .A}}`, `{{index .A 0}}` and `{{range .A}}...{{end}}` filled in."""
    if form in ("json", "{{json .}}"):
        return json.dumps(data)
    text, _ = _until_end(form.replace("\\n", "\n").replace("\\t", "\t"), data)
    return text


def _until_end(form: str, data: Any) -> tuple[str, str]:
    """What comes before the matching `{{end}}`, filled in, and what follows it."""
    out = ""
    while match := _ACTION.search(form):
        out += form[: match.start()]
        form = form[match.end() :]
        words = match[1].split()
        if words[:1] == ["end"]:
            return out, form
        if words[:1] in (["range"], ["if"]):
            found = value(words[-1], data)
            _, after = _until_end(form, data)
            rows = (found or []) if words[0] == "range" else [data] * bool(found)
            out += "".join(_until_end(form, row)[0] for row in (rows.values() if isinstance(rows, dict) else rows))
            form = after
            continue
        out += _told(words, data)
    return out + form, ""


def _told(words: list[str], data: Any) -> str:
    if words[0] == "json":
        return json.dumps(value(words[-1], data))
    if words[0] == "println":
        return f"{_plain(value(words[-1], data))}\n"
    if words[0] == "index":
        found = value(words[1], data)
        for key in words[2:]:
            found = found[int(key)] if isinstance(found, list) else found.get(key.strip('"'))
        return _plain(found)
    if words[0].startswith('"'):
        return str(json.loads(" ".join(words)))
    return _plain(value(words[-1], data))


def value(path: str, data: Any) -> Any:
    """The value at `.A.B`; a missing one is None."""
    for name in filter(None, path.split(".")):
        data = data.get(name) if isinstance(data, dict) else None
    return data


def _plain(found: Any) -> str:
    if found is None:
        return "<no value>"
    if isinstance(found, bool):
        return str(found).lower()
    if isinstance(found, list):
        return f"[{' '.join(map(_plain, found))}]"
    if isinstance(found, dict):
        return f"map[{' '.join(f'{key}:{_plain(one)}' for key, one in found.items())}]"
    return str(found)
