"""Stand-in for the weights of a score."""

from pathlib import Path

folder = Path("~/.cache/sglang-omni/speaker_similarity_assets").expanduser()
folder.mkdir(parents=True, exist_ok=True)
(folder / "stand-in.pth").write_text("stand-in\n")
print("stand-in speaker_similarity_assets: nothing was downloaded")
