"""The documents say what is true."""

import tomllib
from pathlib import Path

import pytest
from omnitui.runbook.check import problems
from omnitui.runbook.schema import TABLES

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "key", sorted({name for types in TABLES.values() for t in types for name in t.__struct_fields__})
)
def test_every_key_of_a_runbook_is_documented(key: str) -> None:
    assert f"`{key}`" in _spelled_out((ROOT / "docs" / "runbooks.md").read_text())


def _spelled_out(text: str) -> str:
    """Keys that stand together in one pair of backticks count each."""
    return text.replace("{ ", "`").replace(" }", "`").replace(", ", "`, `").replace(" = ", "` = `")


def test_the_runbook_of_the_readme_is_sound(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text().split("```toml\n")[1].split("```")[0]
    (tmp_path / "runbook.toml").write_text(text)
    assert problems(tmp_path) == []
    assert tomllib.loads(text)["title"] == "Hello, server"
