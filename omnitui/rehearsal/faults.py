"""What a rehearsal can break on purpose: one row for each fault."""

from collections.abc import Mapping

from msgspec import Struct


class Fault(Struct, frozen=True):
    """What breaks, and how the run must tell it."""

    breaks: str
    ends: str
    """Where the run ends red, in words."""
    page: str = ""
    """The runbook that it is of; empty for what any may meet."""


FAULTS: Mapping[str, Fault] = {
    "server-dies": Fault(
        "the server ends with a traceback while it starts", "its start, at once, with its last line"
    ),
    "slow-start": Fault("the server never becomes healthy", "its start, when its time is up"),
    "port-taken": Fault("somebody else listens on the server's port", "the server's start, naming the other"),
    "client-cut": Fault("the client is killed halfway", "the client, which left no whole result"),
    "skipped-samples": Fault(
        "the client leaves samples out and exits with 0", "the client's word, or the coverage"
    ),
    "nan-result": Fault("a score is NaN", "collecting: a metric that is no number"),
    "memory-kept": Fault("GPU memory is not freed when the server is gone", "the stop, with GPU_FREE red"),
    "disk-full": Fault("the disk that the results go to is full", "the step that writes there"),
    "partial-download": Fault("a download ends early and says that all is well", "the look at what is cached"),
    "wrong-commit": Fault("git checks out another commit and says that all is well", "the checkout's own check"),
    "venv-stale": Fault("the environment is of other dependencies than the checkout", "VENV_OK or its like"),
    "reboot": Fault("the container is stopped under a client", "the client: its job is gone"),
    "no-access": Fault("the token cannot read the private data sets", "the download, with NO_ACCESS", page="asr"),
    "freeze-differs": Fault(
        "a package changes between two passes", "the comparison of freeze.txt, with the two lists", page="asr"
    ),
    "tokens-sent": Fault(
        "the client sends max_new_tokens where the page says none",
        "collecting: the check of its value",
        page="asr",
    ),
    "few-gpus": Fault(
        "only one GPU is visible", "the look at the layout, with both counts", page="vllm-minicpmo-serving"
    ),
    "wrong-wav": Fault(
        "the input WAV is of 44.1 kHz", "the look at the input, saying what it has", page="vllm-minicpmo-serving"
    ),
    "clip-too-long": Fault(
        "the input clip outgrows the context",
        "the look at the input, with the token counts",
        page="vllm-minicpmo-serving",
    ),
    "clock-invalid": Fault(
        "responses record clock=invalid", "their generation, with CLOCK red", page="vllm-minicpmo-serving"
    ),
    "demo-port-taken": Fault(
        "somebody listens on the demos' port",
        "the look at that port, naming the other",
        page="vllm-minicpmo-serving",
    ),
    "empty-answer": Fault(
        "the server answers with nothing and says 200",
        "the first request whose text counts",
        page="vllm-minicpmo-serving",
    ),
}
"""By name. `docs/rehearsal.md` tells them to operators; stand-ins ask `stage.fault()` for the name that is set."""
