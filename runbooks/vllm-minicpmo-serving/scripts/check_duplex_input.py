"""Whether the inputs of a duplex session can be used, before a server is started for them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import duplex_context
from serving_said import say
from serving_wav import UnreadableWav, input_problems, read_wav


def reference_problems(path: Path) -> list[str]:
    """Why a WAV cannot lend its voice."""
    try:
        wav = read_wav(path)
    except UnreadableWav as error:
        return [f"{path} {error}"]
    except OSError as error:
        return [f"{path} cannot be read: {error.strerror}"]
    return [] if wav.frames else [f"{path} is empty"]


def video_problems(path: Path) -> list[str]:
    """Why a clip cannot be streamed, as far as its file tells."""
    try:
        with path.open("rb") as file:
            return [] if file.read(1) else [f"{path} is empty"]
    except OSError as error:
        return [f"{path} cannot be read: {error.strerror}"]


def length_problems(seconds: float | None, rate: float, path: Path) -> list[str]:
    """Why a clip of this length does not fit; an unknown length is a reason."""
    if seconds is None:
        return [f"the length of {path} cannot be read: there is neither ffprobe nor PyAV; set CLIP_SECONDS"]
    problems = duplex_context.context_problems(seconds, rate)
    if not problems:
        print(f"{seconds:.1f} s at {rate:g} tokens a second: {seconds * rate:.0f} of 40960 tokens")
    return problems


def main(arguments: Sequence[str] | None = None) -> int:
    """Check what was named; one line for each check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ref-audio", type=Path)
    parser.add_argument("--wav", type=Path)
    parser.add_argument("--video", type=Path)
    parser.add_argument("--soundtrack", type=str, default="")
    parser.add_argument("--stack-frames", type=int, default=1)
    parser.add_argument("--video-fps", type=str, default="")
    parser.add_argument("--clip-seconds", default="")
    parser.add_argument("--python", default="python")
    options = parser.parse_args(arguments)
    status = 0
    if options.ref_audio:
        status |= say("REF_AUDIO", reference_problems(options.ref_audio))
    if options.wav:
        problems = input_problems(options.wav)
        status |= say("INPUT_WAV", problems)
        if not problems:
            seconds, rate = read_wav(options.wav).seconds, duplex_context.tokens_per_second(video=False)
            status |= say("CONTEXT", length_problems(seconds, rate, options.wav))
    if options.video:
        problems = video_problems(options.video)
        problems += input_problems(Path(options.soundtrack)) if options.soundtrack else []
        status |= say("INPUT_VIDEO", problems)
        if not problems:
            fps = float(options.video_fps or 1.0)
            rate = duplex_context.tokens_per_second(video=True, stack_frames=options.stack_frames, video_fps=fps)
            long = duplex_context.clip_seconds(options.video, options.python, options.clip_seconds)
            if long is not None and options.soundtrack:
                # A session lasts as long as the longer of the two.
                long = max(long, read_wav(Path(options.soundtrack)).seconds)
            status |= say("CONTEXT", length_problems(long, rate, options.video))
    return status


if __name__ == "__main__":
    sys.exit(main())
