"""Stand-in for `python -m pytest FILE`: says what a stage that passed says."""

import sys
import time
from pathlib import Path

_WITHOUT_ACCURACY = ("thinker_length", "tts_ci")


def main(argv: list[str]) -> int:
    """0 when every file that is named is there."""
    files = [word for word in argv if word.partition("::")[0].endswith(".py")]
    print("===== stand-in pytest: no test runs =====")
    for file in files:
        if not Path(file.partition("::")[0]).exists():
            print(f"ERROR: file or directory not found: {file}")
            return 4
        time.sleep(0.2)
        if not any(name in file for name in _WITHOUT_ACCURACY):
            print("Overall accuracy: 0.7000")
        print(f"{file}::stand_in PASSED")
    print(f"===== {len(files)} passed (stand-in) =====")
    return 0


sys.exit(main(sys.argv[1:]))
