"""`omnitui assets`: the table, the downloads with their lines, the rows of data sets."""

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.flow.desk import RUNBOOKS, Desk
from tests.hub_caches import DATA, MODEL, SHA, cache, repo_of
from tests.hub_server import Hub, Repo, serving
from tests.waiting import until

PINNED = str(RUNBOOKS / "pinned")
BIG = "model-00002-of-00002.safetensors"


@pytest.fixture
def hub(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with serving() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        monkeypatch.delenv("HF_TOKEN", raising=False)
        hub.repos["models/org/big"] = Repo(MODEL)
        hub.repos["datasets/org/rows"] = Repo(DATA, token="hf_good")
        yield hub


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "hub"


def test_the_table_says_what_is_there_and_what_to_do(desk: Desk, folder: Path) -> None:
    cache(folder, "org/big", MODEL, main=SHA, without=(BIG,))
    told = desk.omnitui("assets", PINNED, f"--set=HUB={folder}")
    assert told.code == 1
    assert told.out.splitlines() == [
        f"Pinned: models and data sets in {folder}",
        "◐ partial        big   org/big 503e7542",
        f"  at 503e7542 not whole: {BIG} (named by model.safetensors.index.json)",
        "○ missing        rows  org/rows not pinned",
        "  not there",
        f"to bring them: omnitui assets {PINNED} --set=HUB={folder} --download big rows",
    ]


def test_json_is_for_programs(desk: Desk, folder: Path) -> None:
    cache(folder, "org/big", MODEL, main=SHA)
    told = desk.omnitui("assets", PINNED, f"--set=HUB={folder}", "--json", "--set=MODELS=big,small")
    found = json.loads(told.out)
    assert [(one["id"], one["state"]["is"]) for one in found["assets"]] == [
        ("big", "cached"),
        ("small", "absent"),
        ("rows", "absent"),
    ]
    assert found["hub"] == str(folder)
    assert found["assets"][0]["state"]["files"] == 5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--set=HUB=/x", "--download", "nothing"), "the run wants no asset nothing; it wants: big, rows"),
        (("--set=HUB=/x", "big"), "with --download"),
        (("--set=NO=1",), "has no variable NO"),
        (("--set=MODELS=none",), "must be one of big, small"),
        ((), "HUB has no value"),
    ],
)
def test_what_cannot_be_meant_is_refused(desk: Desk, arguments: tuple[str, ...], said: str) -> None:
    told = desk.omnitui("assets", PINNED, *arguments)
    assert told.code == 2
    assert said in told.err


def test_a_runbook_without_assets_says_so(desk: Desk) -> None:
    assert "names no models" in desk.omnitui("assets", str(RUNBOOKS / "tiny")).err


def test_download_brings_what_is_not_there(
    desk: Desk, hub: Hub, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = desk.omnitui("assets", PINNED, f"--set=HUB={folder}", "--download", "big")
    assert told.code == 1, told
    assert "✔ big: fetched 5 files" in told.out
    assert "✔ cached         big" in told.out
    assert (repo_of(folder, "org/big") / "refs" / "main").read_text() == SHA
    told = desk.omnitui("assets", PINNED, f"--set=HUB={folder}", "--download")
    assert told.code == 1
    assert "✘ rows: HF_TOKEN is not set, and without a token nobody reads org/rows" in told.out
    assert "  ✘ last download: HF_TOKEN is not set" in desk.omnitui("assets", PINNED, f"--set=HUB={folder}").out
    monkeypatch.setenv("HF_TOKEN", "hf_good")
    told = desk.omnitui("assets", PINNED, f"--set=HUB={folder}", "--download")
    assert told.code == 0, told
    assert "fetched 5 files" not in told.out
    assert not any(b"hf_good" in file.read_bytes() for file in desk.home.rglob("*") if file.is_file())


def test_ctrl_c_stops_the_download_and_the_next_one_goes_on(desk: Desk, hub: Hub, folder: Path) -> None:
    hub.holds[BIG] = threading.Event()
    process = desk.begin("assets", PINNED, f"--set=HUB={folder}", "--download", "big")
    until(lambda: len(hub.files_asked()) == 5)
    until(lambda: len(list((repo_of(folder, "org/big") / "snapshots" / SHA).iterdir())) == 4)
    process.send_signal(signal.SIGINT)
    told = desk.end(process)
    assert told.code == 130, told
    assert "stopped; the files that are whole are kept" in told.out
    assert "Traceback" not in told.err
    assert not list((repo_of(folder, "org/big") / "blobs").glob("*.incomplete"))
    hub.holds.pop(BIG).set()
    hub.asked.clear()
    desk.omnitui("assets", PINNED, f"--set=HUB={folder}", "--download", "big")
    assert hub.files_asked() == [BIG]


def test_rows_are_counted_told_and_noted(desk: Desk, folder: Path) -> None:
    cache(folder, "org/rows", {"data/test-00000-of-00001.parquet": parquet(7)}, kind="dataset", main=SHA)
    told = desk.omnitui("assets", PINNED, f"--set=HUB={folder}", "--rows")
    assert "rows: org/rows at 503e7542" in told.out
    assert "  test: 7 rows, counted from its files" in told.out
    (noted,) = (desk.home / "assets" / "pinned-rows.jsonl").read_text().splitlines()
    assert json.loads(noted)["rows"]["splits"] == [{"name": "test", "rows": 7, "fingerprint": ""}]
    found = json.loads(desk.omnitui("assets", PINNED, f"--set=HUB={folder}", "--rows", "--json").out)
    assert found["rows"][0]["revision"] == SHA
    assert "no data set is there" in desk.omnitui("assets", PINNED, "--set=HUB=/nowhere", "--rows").out


PREPARE = """
import json, os, sys, datasets
folder, prepared = sys.argv[1:]
made = datasets.load_dataset(folder, cache_dir=prepared)
for folder, _, files in os.walk(prepared):
    if "dataset_info.json" in files:
        info = json.load(open(f"{folder}/dataset_info.json"))
        for file in files:
            if file.endswith(".arrow"):
                os.rename(f"{folder}/{file}", f"{folder}/rows-{file.rpartition('-')[2]}")
        info["dataset_name"] = "rows"
        json.dump(info, open(f"{folder}/dataset_info.json", "w"))
        os.makedirs(f"{prepared}/org___rows/default/0.0.0")
        os.rename(folder, f"{prepared}/org___rows/default/0.0.0/{os.path.basename(folder)}")
        break
"""


def test_rows_have_the_fingerprint_that_the_clients_load(desk: Desk, folder: Path) -> None:
    data = {"data/test-00000-of-00001.parquet": parquet(7)}
    repo = cache(folder, "org/rows", data, kind="dataset", main=SHA)
    snapshot, prepared = repo / "snapshots" / SHA, folder.parent / "datasets"
    # What an online `load_dataset` by name leaves beside the hub's cache.
    subprocess.run([sys.executable, "-c", PREPARE, str(snapshot), str(prepared)], capture_output=True, check=True)
    told = desk.omnitui("assets", PINNED, f"--set=HUB={folder}", "--rows")
    (line,) = (line for line in told.out.splitlines() if line.startswith("  test: 7 rows, fingerprint "))
    assert len(line.rpartition(" ")[2]) == 16
    assert desk.omnitui("assets", PINNED, f"--set=HUB={folder}", "--rows").out.splitlines()[1] == line


def parquet(rows: int) -> bytes:
    """Made in another process: this one must not load pyarrow."""
    code = f"""
import io, sys, pyarrow, pyarrow.parquet
data = io.BytesIO()
pyarrow.parquet.write_table(pyarrow.table({{"id": list(range({rows}))}}), data)
sys.stdout.buffer.write(data.getvalue())
"""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
