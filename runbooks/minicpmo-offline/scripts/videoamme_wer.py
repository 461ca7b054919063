"""WER of the speech answers against their own text, with the function of CI stage 10. Argument: the folder."""

import json
import sys
from pathlib import Path

from benchmarks.tasks.asr import compute_text_audio_consistency_from_records

folder = Path(sys.argv[1])
records = json.loads((folder / "videoamme_results.json").read_text())["per_sample"]
wer = compute_text_audio_consistency_from_records(records, "en", "cuda:0", asr_router_port=8000, asr_concurrency=4)
(folder / "wer_summary.json").write_text(json.dumps(wer["summary"], indent=2))
