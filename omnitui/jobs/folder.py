"""The folder of a job: what anybody can read of an attempt, also when its runner is gone."""

from dataclasses import dataclass
from pathlib import Path

from omnitui.errors import JobError
from omnitui.model import Identity
from omnitui.runbook.variables import names_in


@dataclass(frozen=True)
class JobFolder:
    """The names in a job's folder."""

    path: Path
    inside: str = ""
    """The same folder as the place knows it; empty where that is no other path."""

    @property
    def there(self) -> Path:
        """The folder as the job itself finds it."""
        return Path(self.inside or self.path)

    def beside(self, name: str) -> "JobFolder":
        """Another folder next to this one."""
        inside = str(Path(self.inside).with_name(name)) if self.inside else ""
        return JobFolder(self.path.with_name(name), inside)

    @property
    def begun(self) -> float:
        """When the wrapper said who it is, in epoch seconds; 0 when it never did."""
        try:
            return (self.path / "pid").stat().st_mtime
        except OSError:
            return 0.0

    @property
    def script(self) -> Path:
        """What ran, byte for byte."""
        return self.path / "script"

    @property
    def log(self) -> Path:
        """Everything that it printed."""
        return self.path / "log"

    @property
    def handed(self) -> Path:
        """`NAME=value` lines that it hands on (`$OMNITUI_ENV`)."""
        return self.path / "handed"

    def identity(self) -> Identity | None:
        """Who the wrapper is, or None while it has not said so."""
        fields = _whole_line(self.path / "pid").split(" ")
        if len(fields) != 3 or not (fields[0].isdigit() and fields[1].isdigit()):
            return None
        return Identity(pid=int(fields[0]), start=int(fields[1]), boot=fields[2])

    def exit_status(self) -> int | None:
        """How the script ended (128 + n for signal n), or None."""
        line = _whole_line(self.path / "exit")
        return int(line) if line.isdigit() else None


def _whole_line(path: Path) -> str:
    try:
        text = path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
    return text.strip() if text.endswith("\n") else ""


def read_handed(folder: JobFolder) -> dict[str, str]:
    """What the job handed on. Lines that are not `NAME=value` are told by `JobError`."""
    try:
        text = folder.handed.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise JobError(f"{folder.handed} cannot be read: {error}") from error
    values = {}
    for line in filter(str.strip, text.split("\n")):
        name, equals, value = line.partition("=")
        if not equals or not name.isidentifier():
            raise JobError(f"$OMNITUI_ENV holds {line[:60]!r}; a line there is NAME=value")
        if "\0" in value:
            raise JobError(f"$OMNITUI_ENV holds a NUL byte in the value of {name}; no environment can carry it")
        if names_in(value):
            # It would be expanded wherever the value is used, and an unknown name would end the run.
            raise JobError(f"$OMNITUI_ENV holds {line[:60]!r}; let bash expand the name before it is handed on")
        values[name] = value
    return values
