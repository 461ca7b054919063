"""Recogniser processes: pocketsphinx holds the interpreter lock while it decodes, so each has its own.

The pipe's protocol: a request is a 4-byte little-endian length and that many bytes of 16 kHz 16-bit PCM; a reply
is one JSON line. The first line says that the model is loaded. The process ends when its input ends, so it
never outlives its server.
"""

from __future__ import annotations

import json
import queue
import signal
import struct
import subprocess
import sys
from typing import BinaryIO

LETTERS = (
    "alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november oscar papa quebec "
    "romeo sierra tango uniform victor whiskey x-ray yankee zulu"
)
DIGITS = "zero one two three four five six seven eight nine"
LENGTH = struct.Struct("<I")


class RecogniserDied(RuntimeError):
    """A recogniser process ended; the message says with which status."""


def grammar() -> str:
    """Return the JSGF grammar: any number of spelling words and digits in any order, all equally likely.

    It knows the 36 words of radio spelling and nothing of the test set: neither its sentences nor their length.
    """
    words = " | ".join((LETTERS + " " + DIGITS).split())
    return f"#JSGF V1.0;\ngrammar spelling;\npublic <utterance> = ( {words} )+ ;\n"


class Recogniser:
    """One recogniser process; one request at a time."""

    def __init__(self) -> None:
        """Start the process; `wait_loaded` says when it can be used."""
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def wait_loaded(self) -> None:
        """Wait until the model is loaded; raises `RecogniserDied`."""
        self._read_line()

    def recognise(self, pcm: bytes) -> str:
        """Return the words in 16 kHz 16-bit PCM, an empty text when none were found; raises `RecogniserDied`."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(LENGTH.pack(len(pcm)) + pcm)
        except BrokenPipeError as error:
            raise self._died() from error
        return str(json.loads(self._read_line())["text"])

    def stop(self) -> None:
        """Kill the process and wait for its end."""
        self._process.kill()
        self._process.wait()

    def _read_line(self) -> bytes:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            raise self._died()
        return line

    def _died(self) -> RecogniserDied:
        return RecogniserDied(f"a recogniser process ended with status {self._process.wait()}")


class RecogniserPool:
    """Recogniser processes that wait for requests from any thread."""

    def __init__(self, workers: int) -> None:
        """Start `workers` processes and wait until all have loaded the model; raises `RecogniserDied`."""
        self._all = [Recogniser() for _ in range(workers)]
        self._idle: queue.SimpleQueue[Recogniser] = queue.SimpleQueue()
        for recogniser in self._all:
            recogniser.wait_loaded()
            self._idle.put(recogniser)

    def problem(self) -> str | None:
        """Say what is wrong with the pool, or None."""
        dead = sum(not recogniser.alive for recogniser in self._all)
        return f"{dead} of {len(self._all)} recogniser processes ended" if dead else None

    def recognise(self, pcm: bytes) -> str:
        """Wait for an idle process and return the words it heard; raises `RecogniserDied`."""
        recogniser = self._idle.get()
        try:
            return recogniser.recognise(pcm)
        finally:
            self._idle.put(recogniser)

    def stop(self) -> None:
        """End every process."""
        for recogniser in self._all:
            recogniser.stop()


def read_request(stream: BinaryIO) -> bytes | None:
    """Read one length-prefixed request; None at the end of the stream, also in the middle of a request."""
    header = stream.read(LENGTH.size)
    if len(header) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(header)
    pcm = stream.read(length)
    return pcm if len(pcm) == length else None


def main() -> None:
    """Decode requests from stdin until it ends."""
    from pocketsphinx import Decoder  # noqa: PLC0415  (the server imports this module without the model)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The word lattice's search costs more than the decoding and does not lower the error rate here; the
    # insertion penalty balances words heard in pauses with words missed.
    decoder = Decoder(samprate=16000, lm=None, bestpath=False, wip=0.1, loglevel="ERROR")
    decoder.add_jsgf_string("spelling", grammar())
    decoder.activate_search("spelling")
    replies = sys.stdout
    print(json.dumps({"loaded": True}), file=replies, flush=True)
    while (pcm := read_request(sys.stdin.buffer)) is not None:
        decoder.start_utt()
        decoder.process_raw(pcm, full_utt=True)
        decoder.end_utt()
        heard = decoder.hyp()
        print(json.dumps({"text": heard.hypstr if heard else ""}), file=replies, flush=True)


if __name__ == "__main__":
    main()
