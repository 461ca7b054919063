"""The vLLM-Omni serving page in a rehearsal: all of its parts, two layouts, and what it must refuse."""

import hashlib
import json
from collections.abc import Callable

import pytest
from omnitui import store
from omnitui.model import Failed, Passed
from omnitui.rehearsal import sandbox
from omnitui.rehearsal.faults import FAULTS
from omnitui.rehearsal.stand_ins import minicpmo_inputs, serve
from omnitui.runbook.load import load, locate

from tests.rehearsals.conftest import Told

pytestmark = [pytest.mark.rehearsal, pytest.mark.timeout(300)]
RUNBOOK = "vllm-minicpmo-serving"
Rehearse = Callable[..., Told]

BODY = json.dumps({"modalities": ["text"], "chat_template_kwargs": {"enable_thinking": False}})
DRIVER = "tests/e2e/online_serving/run_minicpmo_realtime_duplex_soft_interrupt.py"
SETTINGS = {
    "PARTS": ",".join(load(locate(RUNBOOK)).variables["PARTS"].choices),
    "DAILY_OMNI_CMD": f"vllm bench serve --omni --dataset-name daily-omni --num-prompts 20 --extra_body '{BODY}'",
    "SOFT_INTERRUPT_CMD": f"python {DRIVER} --url ws://localhost:8099/v1/realtime?duplex=1 "
    f"--input-wav /{minicpmo_inputs.QUESTION} --ref-audio /data/ref.wav",
    "SOFT_INTERRUPT_MODES": "model-policy,response-required",
    "SOFT_INPUT_SHA256": hashlib.sha256(serve.tone(1.0, 16_000)).hexdigest(),
    "SOFT_SECOND_SUBSTRING": "stand-in answer",
}


def settings(**other: str) -> list[str]:
    return [word for name, value in {**SETTINGS, **other}.items() for word in ("--set", f"{name}={value}")]


def reason_of(told: Told, step: str) -> str:
    assert told.code == 1, told.out
    assert told.run is not None
    status = store.read(told.run).step(f"_/_/{step}").status
    assert isinstance(status, Failed), told.out
    return status.reason


def test_every_part_is_green_on_one_gpu(rehearse: Rehearse) -> None:
    told = rehearse(RUNBOOK, *settings(GRADIO_LAUNCH="python", LIMIT="3"))
    assert told.code == 0, told.out
    assert told.run is not None
    records = store.read(told.run).steps
    steps = [step.id for phase in load(locate(RUNBOOK)).phases for step in phase.steps]
    assert [name.rpartition("/")[2] for name in records] == steps
    assert all(isinstance(record.status, Passed) for record in records.values())
    root = sandbox.of_run(told.run).root / "data" / "omni-duplex-eval"
    assert len(list((root / "scores").rglob("*.json"))) == 3
    assert (told.run.path / "omni-duplex-eval" / "summary.log").exists()
    assert len(list((told.run.path / "answers" / "stream").glob("*.wav"))) == 2


def test_every_part_is_green_on_two_gpus_with_a_judge_of_its_own(rehearse: Rehearse) -> None:
    told = rehearse(
        RUNBOOK,
        *settings(
            DEPLOY="minicpmo_4_5_2gpu.yaml",
            GPUS="0,1",
            JUDGE_GPU="2",
            STAGE_OVERRIDES='{"0": {"gpu_memory_utilization": 0.55}}',
            PUBLIC_REALTIME_URL="wss://public.example/v1/realtime",
            SPLIT="RTD_OCR",
            PACE="as-fast-as-possible",
            ALLOW_INVALID_CLOCK="yes",
        ),
    )
    assert told.code == 0, told.out
    assert "GPU0 4 of 143771 MiB, GPU1 4 of 143771 MiB, below 1024" in told.out


TOO_FEW = {"DEPLOY": "minicpmo_4_5_2gpu.yaml", "GPUS": "0,1"}
ENDS = {
    "few-gpus": ("gpus", "curl", "needs 2 GPUs; GPUS names 2 (0,1) and 1 is visible", TOO_FEW),
    "wrong-wav": ("wav-input", "duplex", "44100 Hz instead of 16000", {}),
    "clip-too-long": ("stacked-input", "duplex-stacked", "166200 tokens; the context has 40960", {}),
    "clock-invalid": ("eval-generate-responses", "omni-duplex-eval", "responses record clock=invalid", {}),
    "demo-port-taken": ("gradio-port", "gradio", "port 7862 is held by", {}),
    "empty-answer": ("curl-text", "curl", "the text of the answer is empty", {}),
    "skipped-samples": ("daily-omni-run", "daily-omni", "3 requests failed", {}),
    "nan-result": ("eval-summarize", "omni-duplex-eval", "a number that is not finite", {}),
    "client-cut": ("eval-generate-responses", "omni-duplex-eval", "exit status 137", {}),
}
"""Where each fault ends this page red: the step, the part that meets it, words of the reason, other settings."""


def test_every_fault_of_the_page_is_tested() -> None:
    assert {name for name, fault in FAULTS.items() if fault.page == RUNBOOK} <= ENDS.keys()


@pytest.mark.parametrize("fault", list(ENDS))
def test_a_fault_ends_red_and_is_green_once_lifted(rehearse: Rehearse, fault: str) -> None:
    step, part, reason, other = ENDS[fault]
    told = rehearse(RUNBOOK, *settings(PARTS=part, **other), "--fault", fault)
    assert reason in reason_of(told, step)
    assert told.run is not None
    again = rehearse("--resume", told.run.name, "--fault", "none")
    if fault == "clock-invalid":
        # What was generated stays what it is, and is not generated again.
        assert reason in reason_of(again, step)
    else:
        assert again.code == 0, again.out


def test_too_few_gpus_named_are_refused_with_both_counts(rehearse: Rehearse) -> None:
    told = rehearse(RUNBOOK, *settings(PARTS="curl", DEPLOY="minicpmo_4_5_8x4090.yaml"))
    assert "minicpmo_4_5_8x4090.yaml needs 8 GPUs; GPUS names 1 (0) and 8 are visible" in reason_of(told, "gpus")


@pytest.mark.parametrize(
    ("part", "other", "reason"),
    [
        ("daily-omni", {"DAILY_OMNI_CMD": "vllm bench serve --omni"}, "DAILY_OMNI_CMD must contain --extra_body"),
        ("omni-duplex-eval", {"PACE": "as-fast-as-possible"}, "records clock=invalid"),
        ("soft-interrupt", {"SOFT_INPUT_SHA256": "0" * 64}, "not SOFT_INPUT_SHA256"),
        ("curl", {"STAGE_OVERRIDES": "{0: 1}"}, "STAGE_OVERRIDES is no JSON"),
    ],
)
def test_settings_that_cannot_work_are_refused_before_a_gpu_is_loaded(
    rehearse: Rehearse, part: str, other: dict[str, str], reason: str
) -> None:
    told = rehearse(RUNBOOK, *settings(PARTS=part, **other))
    assert reason in reason_of(told, "settings")
