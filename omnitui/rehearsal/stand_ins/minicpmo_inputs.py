"""What the MiniCPM-o page is given to hear and to see, as files of a rehearsal: a question, voices, a clip.

The clip is no video: `ffprobe` is stood in for too, and reads the length that stands in the file.
"""

import sys
from pathlib import Path

from omnitui.rehearsal.stand_ins import serve

QUESTION = "data/input_16k_mono_pcm16.wav"
CLIP = "data/clip.mp4"
VOICES = ("MiniCPM-o-Demo/assets/ref_audio/ref_minicpm_signature.wav", "data/ref.wav")
WRONG_WAV, LONG_CLIP = "wrong-wav", "clip-too-long"
_SECONDS = {LONG_CLIP: 600.0}


def write(root: Path, fault: str = "") -> None:
    """Write the inputs below the root of a rehearsal's file system, one of them broken if that is the fault."""
    wavs = {QUESTION: 44_100 if fault == WRONG_WAV else 16_000, **dict.fromkeys(VOICES, 16_000)}
    for name, rate in wavs.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(serve.tone(1.0, rate))
    (root / CLIP).write_text(f"stand-in clip\nseconds={_SECONDS.get(fault, 12.0)}\n")


def ffprobe(argv: list[str]) -> int:
    """`ffprobe ... FILE`: the length that a stand-in clip says it has."""
    try:
        text = Path(argv[-1]).read_text()
    except (OSError, UnicodeDecodeError, IndexError):
        text = ""
    seconds = text.partition("seconds=")[2].strip()
    if not seconds:
        sys.stderr.write(f"stand-in ffprobe: {argv[-1:]} is no stand-in clip\n")
        return 1
    print(seconds)
    return 0
