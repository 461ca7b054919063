"""What the operator has set once for all runs: `config.toml` in the user's config folder, or `OMNITUI_CONFIG`."""

import os
import re
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

import msgspec
import tomli_w
from msgspec import Struct

from omnitui.errors import UsageError


class Config(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All keys with what they are when the file does not say."""

    theme: Literal["dark", "light"] = "dark"
    bell: bool = True
    """Ring the terminal's bell at each notice."""
    osc: bool = True
    """Set the window's title and send desktop notifications through the terminal (OSC 2, 9 and 777)."""
    on_event: str = ""
    """A command for `sh -c` that the runner runs at each notice."""
    on_event_timeout_s: float = 30.0
    """How long that command may take."""
    log_errors: str = "error|traceback|exception|critical"
    """What errors in a log are told by: a regular expression; without capitals, capitals match too."""


def path() -> Path:
    """Where the file is, whether it is there or not."""
    if given := os.environ.get("OMNITUI_CONFIG"):
        return Path(given).absolute()
    from platformdirs import user_config_path  # noqa: PLC0415 - not needed when OMNITUI_CONFIG is set

    return user_config_path("omnitui") / "config.toml"


def read() -> Config:
    """The config; without a file all is as by default. Raises `UsageError` naming file and key."""
    file = path()
    try:
        raw = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Config()
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{file}: not TOML: {error}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: cannot be read: {error}") from error
    return _converted(file, raw)


def _converted(file: Path, raw: dict[str, Any]) -> Config:
    for name in raw:
        if name not in Config.__struct_fields__:
            near = get_close_matches(name, Config.__struct_fields__, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}?" if near else f"valid here: {', '.join(Config.__struct_fields__)}"
            raise UsageError(f"{file}: {name}: unknown key; {hint}")
    try:
        config = msgspec.convert(raw, Config)
    except msgspec.ValidationError as error:
        reason, _, at = str(error).partition(" - at `$.")
        raise UsageError(f"{file}: {at.rstrip('`')}: {reason[:1].lower()}{reason[1:]}") from error
    if not 0 < config.on_event_timeout_s <= 3600:
        raise UsageError(f"{file}: on_event_timeout_s: {config.on_event_timeout_s:g} is not between 0 and 3600 s")
    try:
        re.compile(config.log_errors)
    except re.error as error:
        raise UsageError(f"{file}: log_errors: no regular expression: {error}") from error
    return config


def as_toml(config: Config) -> str:
    """The config as a file that says the same."""
    return tomli_w.dumps(msgspec.to_builtins(config))
