"""What a fresh process loads: the heavy packages are for those steps alone that need them."""

import subprocess
import sys
from pathlib import Path

import pytest

TINY = Path(__file__).parents[1] / "data" / "runbooks" / "tiny"
HEAVY = ("datasets", "huggingface_hub", "jiwer", "soundfile", "numpy", "httpx", "httpx2", "pyarrow", "pynvml")


def loaded(code: str) -> list[str]:
    """Which heavy packages a fresh interpreter has loaded after running the code."""
    ask = f"\nimport sys\nprint('LOADED', *[name for name in {HEAVY!r} if name in sys.modules])\n"
    result = subprocess.run([sys.executable, "-c", code + ask], capture_output=True, text=True, check=True)
    word, *names = result.stdout.splitlines()[-1].split()
    assert word == "LOADED"
    return names


def verb(*arguments: str) -> str:
    return f"""
import sys
sys.argv = ["omnitui", *{arguments!r}]
from omnitui.__main__ import main
try:
    main()
except SystemExit as ended:
    assert ended.code == 0, ended.code
"""


def test_the_help_loads_no_heavy_package() -> None:
    assert loaded(verb("--help")) == []


def test_a_verb_that_reads_runbooks_loads_no_heavy_package() -> None:
    assert loaded(verb("check", str(TINY))) == []


def test_the_runner_loads_no_heavy_package() -> None:
    assert loaded("import omnitui.runner") == []


def test_the_app_loads_no_heavy_package() -> None:
    pytest.importorskip("omnitui.ui.app")
    assert loaded("import omnitui.ui.app") == []


def test_looking_at_assets_and_downloading_them_load_no_heavy_package() -> None:
    """The look and the download are processes of their own."""
    code = """
from pathlib import Path
from omnitui import downloads, provision
from omnitui.assets import Absent, Wanted
from omnitui.probes.assets import reading
from omnitui.ui.screens.assets import AssetsScreen
found = reading(Path("/nowhere"), (Wanted("m", "org/m"),))
assert found.assets[0].state == Absent(), found
"""
    assert loaded(code) == []
