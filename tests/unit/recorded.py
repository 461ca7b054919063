"""Result files of the pages' own clients, cut down, and the runbooks that read them, cut down alike."""

import json
import shutil
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import soundfile as sf
from msgspec.structs import replace
from omnitui.results.collecting import Collected, read_output
from omnitui.runbook.load import load
from omnitui.runbook.measured import Check, Workload
from omnitui.runbook.narrow import narrow
from omnitui.runbook.schema import Runbook
from omnitui.runbook.variables import chosen, resolved

DATA = Path(__file__).parents[1] / "data" / "results"
RUNBOOKS = Path(__file__).parents[2] / "runbooks"
RATE_HZ = 24_000


def runbook(name: str, counts: dict[str, str], **given: str) -> tuple[Runbook, dict[str, str]]:
    """A runbook whose workloads expect fewer samples; `counts` maps the page's number to the file's."""
    whole = load(RUNBOOKS / name)
    own = chosen(whole, given)
    handed = {name: "" for name, variable in whole.variables.items() if variable.handed}
    values = resolved(own, handed)
    book = narrow(whole, own)
    return replace(book, workloads=tuple(_fewer(one, counts) for one in book.workloads)), values


def _fewer(workload: Workload, counts: dict[str, str]) -> Workload:
    def check(one: Check) -> Check:
        return replace(one, equals=counts.get(one.equals, one.equals))

    checks = tuple(check(one) for one in workload.checks)
    return replace(workload, expect=counts.get(workload.expect, workload.expect), checks=checks)


def only(book: Runbook, *workloads: str) -> Runbook:
    """The runbook with these workloads, and the metrics of their folders."""
    kept = tuple(one for one in book.workloads if one.id in workloads)
    files = {Path(one.file).parent for one in kept}
    return replace(book, workloads=kept, metrics=tuple(m for m in book.metrics if Path(m.file).parent in files))


def mini(run: Path) -> Collected:
    """Collect one recorded MiniCPM-o pass."""
    book, values = runbook("minicpmo-offline", {"1088": "6"})
    return read_output(book, run, values)


def copied(name: str, to: Path) -> Path:
    """A recorded pass with a sound for each of its samples."""
    folder = to / name
    shutil.copytree(DATA / name, folder)
    for file, key, ident in (
        ("seedtts/speed_results.json", "per_request", "id"),
        ("videoamme/videoamme_results.json", "per_sample", "sample_id"),
    ):
        if (folder / file).exists():
            rows = json.loads((folder / file).read_text())[key]
            sounds((folder / file).parent / "audio", (row[ident] for row in rows))
    return folder


def sounds(folder: Path, ids: Iterable[str]) -> None:
    """A short tone for each id."""
    folder.mkdir(exist_ok=True)
    for name in ids:
        sf.write(folder / f"{name}.wav", np.sin(np.arange(240) / 7) * 0.3, RATE_HZ, subtype="PCM_16")
