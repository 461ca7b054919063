"""How many requests of a client succeeded, told as `served=N/M`: its exit status says little.

Arguments: the result file, and the name of its list of samples.
"""

import json
import sys
from pathlib import Path

file, rows = sys.argv[1:]
samples = json.loads(Path(file).read_text())[rows]
for sample in samples:
    if not sample["is_success"]:
        print("failed:", sample.get("id", sample.get("sample_id")), sample.get("error"))
print(f"served={sum(bool(sample['is_success']) for sample in samples)}/{len(samples)}")
