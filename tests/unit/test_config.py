"""The config file: what is not written is as by default, and what is not known is refused by name."""

import tomllib
from pathlib import Path

import msgspec
import pytest
from omnitui import config
from omnitui.cli import run_cli
from omnitui.config import Config
from omnitui.errors import UsageError

DOCS = Path(__file__).parents[2] / "docs" / "config.md"


def test_without_a_file_all_is_as_by_default(config_file: Path) -> None:
    assert config.path() == config_file
    assert config.read() == Config()


def test_what_is_written_counts(config_file: Path) -> None:
    config_file.write_text('theme = "light"\nbell = false\non_event = "mail -s omnitui me"\n')
    assert config.read() == Config(theme="light", bell=False, on_event="mail -s omnitui me")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bel = false", "bel: unknown key; did you mean bell?"),
        (
            "colour = 1",
            "colour: unknown key; valid here: theme, bell, osc, on_event, on_event_timeout_s, log_errors",
        ),
        ('log_errors = "("', "log_errors: no regular expression"),
        ('theme = "blue"', "theme: invalid enum value 'blue'"),
        ('bell = "no"', "bell: expected `bool`, got `str`"),
        ("on_event_timeout_s = 0", "on_event_timeout_s: 0 is not between 0 and 3600 s"),
        ("on_event_timeout_s = nan", "on_event_timeout_s: nan is not between 0 and 3600 s"),
        ("bell =", "not TOML"),
    ],
)
def test_what_is_wrong_is_named(config_file: Path, text: str, said: str) -> None:
    config_file.write_text(text)
    with pytest.raises(UsageError) as caught:
        config.read()
    assert str(caught.value).startswith(f"{config_file}: ")
    assert said in str(caught.value)


def test_the_folder_is_the_systems_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("OMNITUI_CONFIG")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert config.path() == tmp_path / "omnitui" / "config.toml"


def test_the_verb_prints_a_file_that_says_the_same(config_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config_file.write_text("osc = false\n")
    assert run_cli(["config"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"# {config_file}\n")
    assert msgspec.convert(tomllib.loads(said), Config) == Config(osc=False)


def test_the_verb_refuses_what_is_wrong(config_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config_file.write_text("bel = false\n")
    assert run_cli(["config"]) == 2
    assert "did you mean bell?" in capsys.readouterr().err


@pytest.mark.parametrize("key", Config.__struct_fields__)
def test_every_key_is_documented(key: str) -> None:
    assert f"| `{key}` |" in DOCS.read_text()
