import os
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile as sf
from omnitui.results.audio import AudioCheck, check_audio

RATE = 16_000
SOUND = struct.pack("<4h", 1, 2, 3, 4) * 50


def wav(samples: bytes, claimed: int | None = None, *, before: bytes = b"") -> bytes:
    """A 16-bit WAV whose header claims so many bytes of samples; `before` stands between its chunks."""
    size = len(samples) if claimed is None else claimed
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, RATE, 2 * RATE, 2, 16)
    body = b"WAVE" + form + before + struct.pack("<4sI", b"data", size) + samples
    return struct.pack("<4sI", b"RIFF", min(len(body) - len(samples) + size, 0xFFFFFFFF)) + body


Check = Callable[[bytes], str]


@pytest.fixture
def check(tmp_path: Path) -> Check:
    """What is wrong with these bytes as a file."""

    def looked(data: bytes) -> str:
        file = tmp_path / "a.wav"
        file.write_bytes(data)
        found = check_audio([file])
        assert found.files == 1
        return "; ".join(found.wrong)

    return looked


def test_a_sound_file_is_fine(check: Check) -> None:
    assert check(wav(SOUND)) == ""
    assert check(wav(SOUND, before=struct.pack("<4sI", b"LIST", 5) + b"abcde\0")) == ""


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "a.wav cannot be read"),
        (b"RIFF", "a.wav cannot be read"),
        (b'{"error": "overloaded"}', "a.wav cannot be read"),
        (wav(b""), "a.wav is empty"),
        (wav(b"", 4000), "a.wav is empty"),
        (wav(bytes(400)), "a.wav is silent"),
        (wav(SOUND, 400 + 1000), "a.wav lacks 1000 bytes that its header claims"),
        (wav(SOUND, 3600 * 2 * RATE), "a.wav lacks 115199600 bytes that its header claims"),
        (wav(SOUND)[:-2], "a.wav lacks 2 bytes that its header claims"),
        (wav(SOUND)[:30], "a.wav cannot be read"),
    ],
)
def test_what_is_wrong_is_told(check: Check, data: bytes, reason: str) -> None:
    assert check(data).startswith(reason)


def test_the_length_that_a_stream_cannot_know_is_no_lie(check: Check) -> None:
    assert check(wav(SOUND, 0xFFFFFFFF)) == ""
    assert check(wav(SOUND, 0x7FFFFFFF)) == ""
    assert check(wav(b"", 0xFFFFFFFF)) == "a.wav is empty"


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_samples_that_are_not_finite(tmp_path: Path, bad: float) -> None:
    samples = np.full(100, 0.5, dtype="float32")
    samples[50] = bad
    sf.write(tmp_path / "a.wav", samples, RATE, subtype="FLOAT")
    assert check_audio([tmp_path / "a.wav"]) == AudioCheck(
        1, ("a.wav has samples that are not finite",), (RATE,), 1
    )


def test_files_in_other_forms_are_read(tmp_path: Path) -> None:
    sound = np.linspace(-0.5, 0.5, 1000)
    sf.write(tmp_path / "a.flac", sound, 24_000)
    sf.write(tmp_path / "b.wav", np.stack([sound, sound], axis=1), 48_000)
    assert check_audio([tmp_path / "a.flac", tmp_path / "b.wav"]) == AudioCheck(2, (), (24_000, 48_000), 0)
    half = (tmp_path / "a.flac").read_bytes()[:-200]
    (tmp_path / "a.flac").write_bytes(half)
    assert check_audio([tmp_path / "a.flac"]).wrong


def test_a_header_that_claims_days_takes_no_memory(tmp_path: Path) -> None:
    sf.write(tmp_path / "a.flac", np.linspace(-0.5, 0.5, 1000), 24_000)
    data = bytearray((tmp_path / "a.flac").read_bytes())
    # The 36 bits of STREAMINFO that count the samples, RFC 9639 section 8.2.
    data[21] |= 0x0F
    data[22:26] = b"\xff\xff\xff\xff"
    (tmp_path / "a.wav").write_bytes(data)
    assert check_audio([tmp_path / "a.wav"]).wrong[0].startswith("a.wav c")


def test_what_is_no_file_is_not_waited_for_and_an_odd_name_can_be_told(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.wav")
    odd = tmp_path / os.fsdecode(b"\xff.wav")
    odd.write_bytes(b"x")
    found = check_audio([tmp_path / "pipe.wav", odd])
    assert found.wrong[0] == "pipe.wav cannot be read (it is no file)"
    assert found.wrong[1].encode().startswith("\ufffd.wav".encode())


def test_everything_is_counted(tmp_path: Path) -> None:
    names = {"good": wav(SOUND), "silent": wav(bytes(400)), "empty": wav(b""), "no": b"x"}
    for name, data in names.items():
        (tmp_path / f"{name}.wav").write_bytes(data)
    (tmp_path / "folder.wav").mkdir()
    found = check_audio(tmp_path / f"{name}.wav" for name in (*names, "folder", "missing"))
    assert (found.files, found.rates, found.empty_or_nan) == (6, (RATE,), 4)
    assert [reason.split()[0] for reason in found.wrong] == [
        *("silent.wav", "empty.wav", "no.wav", "folder.wav", "missing.wav"),
    ]


def test_nothing_is_nothing() -> None:
    assert check_audio([]) == AudioCheck(0, (), (), 0)
