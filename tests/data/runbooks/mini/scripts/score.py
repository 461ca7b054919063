"""Score: every sample gets the same error rate."""

import json
import os
from pathlib import Path

out = Path(os.environ["OUT"])
samples = json.loads((out / "speed_results.json").read_text())["samples"]
scores = [{"id": sample["id"], "wer": 0.25} for sample in samples]
(out / "wer_results.json").write_text(json.dumps({"samples": scores, "summary": {"wer": 0.25}}))
