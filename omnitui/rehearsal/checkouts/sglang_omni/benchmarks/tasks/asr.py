"""Stand-in for the WER of speech answers against their own text."""

from typing import Any

from benchmarks import standing_in as base


def compute_text_audio_consistency_from_records(
    records: list[dict[str, Any]], lang: str, device: str, *, asr_router_port: int, asr_concurrency: int = 32
) -> dict[str, Any]:
    """The summary over the records that have speech."""
    url, rng, rows = f"http://127.0.0.1:{asr_router_port}", base.seeded(records[0]["wav_path"], "consistency"), []
    for record in records:
        good = bool(record["is_success"])
        if good:
            base.post(url, "/v1/audio/transcriptions", {"id": record["sample_id"]})
        keys = ("audio_duration_s", "latency_s")
        found = base.wer_of(rng) if good else {}
        rows.append({"id": record["sample_id"], "is_success": good, **{k: record[k] for k in keys}, **found})
    return {"summary": base.wer_summary(rows, lang), "per_sample": rows}
