"""Serve espeak-ng as an OpenAI-style text-to-speech endpoint on 127.0.0.1.

GET  /health            200 when the engine is loaded, 503 before
GET  /v1/models         the one model
POST /v1/audio/speech   {"model", "input", "voice", "response_format": "wav", "speed"} -> WAV, 22050 Hz, mono
"""

from __future__ import annotations

import argparse
import ctypes
import io
import json
import os
import re
import threading
import wave
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path

from speech_http import ApiError, Reply, Request, Service, check_model, serve

LONGEST_INPUT_CHARACTERS = 4096
SLOWEST_WPM, FASTEST_WPM = 80, 450
VOICE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9+_-]*")

# Names and values of espeak-ng's speak_lib.h.
AUDIO_OUTPUT_SYNCHRONOUS = 2
INITIALIZE_DONT_EXIT = 0x8000
POS_CHARACTER = 1
CHARS_UTF8 = 1
PARAMETER_RATE = 1
EE_OK = 0

SynthCallback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)


class UnknownVoice(ValueError):
    """espeak-ng has no voice of that name."""


class Espeak:
    """espeak-ng through its C interface (speak_lib.h); it has one global state, so one caller at a time."""

    def __init__(self) -> None:
        """Load the library and its data; raises ImportError or OSError."""
        import espeakng_loader  # noqa: PLC0415  (an ImportError here is told as the engine's, on a port that answers)

        data = Path(espeakng_loader.get_data_path())
        # The library cuts paths at 160 characters; a relative one always fits.
        os.chdir(data.parent)
        self._library = ctypes.CDLL(espeakng_loader.get_library_path())
        rate_hz = self._library.espeak_Initialize(
            AUDIO_OUTPUT_SYNCHRONOUS, 0, data.name.encode(), INITIALIZE_DONT_EXIT
        )
        if rate_hz <= 0:
            raise OSError(f"espeak-ng cannot read its data in {data}")
        self.rate_hz = int(rate_hz)
        self._pieces: list[bytes] = []
        # The library keeps only the pointer: the object has to live as long as the engine.
        self._callback = SynthCallback(self._collect)
        self._library.espeak_SetSynthCallback(self._callback)
        self._lock = threading.Lock()

    def synthesize(self, text: str, voice: str, words_per_minute: int) -> bytes:
        """Return 16-bit mono PCM at `rate_hz`; silent or empty when there is nothing to say.

        Raises `UnknownVoice`, and OSError when the library fails.
        """
        encoded = text.encode() + b"\0"
        with self._lock:
            if self._library.espeak_SetVoiceByName(voice.encode()) != EE_OK:
                raise UnknownVoice(f"espeak-ng has no voice {voice!r}")
            self._library.espeak_SetParameter(PARAMETER_RATE, words_per_minute, 0)
            self._pieces.clear()
            size = ctypes.c_size_t(len(encoded))
            status = self._library.espeak_Synth(encoded, size, 0, POS_CHARACTER, 0, CHARS_UTF8, None, None)
            self._library.espeak_Synchronize()
            if status != EE_OK:
                raise OSError(f"espeak_Synth returned {status}")
            return b"".join(self._pieces)

    def _collect(self, samples: ctypes._Pointer[ctypes.c_short], count: int, _events: int | None) -> int:
        if samples and count > 0:
            self._pieces.append(ctypes.string_at(samples, count * 2))
        return 0


class SpeechEndpoint:
    """POST /v1/audio/speech."""

    def __init__(self, model: str, voice: str, words_per_minute: int) -> None:
        """Set what is served; `load` brings the engine."""
        self._model, self._voice, self._words_per_minute = model, voice, words_per_minute
        self._engine: Espeak | None = None

    def load(self) -> None:
        """Load the engine and try the voice; raises what the engine raises."""
        engine = Espeak()
        engine.synthesize("ready", self._voice, self._words_per_minute)
        self._engine = engine

    def answer(self, request: Request) -> Reply:
        """Synthesize one request; raises `ApiError`."""
        assert self._engine is not None
        fields = _json_object(request.body)
        check_model(fields.get("model"), self._model)
        text = _input_text(fields)
        voice = fields.get("voice", self._voice)
        if not isinstance(voice, str) or not VOICE_NAME.fullmatch(voice):
            raise ApiError(HTTPStatus.BAD_REQUEST, "voice is the name of an espeak-ng voice", param="voice")
        if fields.get("response_format", "wav") != "wav":
            raise ApiError(HTTPStatus.BAD_REQUEST, "only wav is served", param="response_format")
        try:
            pcm = self._engine.synthesize(text, voice, self._rate(fields))
        except UnknownVoice as error:
            raise ApiError(HTTPStatus.BAD_REQUEST, str(error), param="voice") from error
        except OSError as error:
            raise ApiError(HTTPStatus.INTERNAL_SERVER_ERROR, str(error)) from error
        if not any(pcm):
            raise ApiError(HTTPStatus.BAD_REQUEST, "the input has nothing to speak", param="input")
        return Reply("audio/wav", wav_bytes(pcm, self._engine.rate_hz))

    def _rate(self, fields: Mapping[str, object]) -> int:
        speed = fields.get("speed", 1.0)
        if isinstance(speed, bool) or not isinstance(speed, int | float):
            raise ApiError(HTTPStatus.BAD_REQUEST, "speed is a number", param="speed")
        wanted = speed * self._words_per_minute
        if not SLOWEST_WPM <= wanted <= FASTEST_WPM:
            slowest, fastest = SLOWEST_WPM / self._words_per_minute, FASTEST_WPM / self._words_per_minute
            message = f"speed lies between {slowest:.2f} and {fastest:.2f} here"
            raise ApiError(HTTPStatus.BAD_REQUEST, message, param="speed")
        return round(wanted)


def wav_bytes(pcm: bytes, rate_hz: int) -> bytes:
    """Wrap 16-bit mono PCM in a WAV header."""
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate_hz)
        file.writeframes(pcm)
    return buffer.getvalue()


def _json_object(body: bytes) -> Mapping[str, object]:
    try:
        fields = json.loads(body)
    except ValueError as error:
        raise ApiError(HTTPStatus.BAD_REQUEST, f"the body is not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise ApiError(HTTPStatus.BAD_REQUEST, "the body is not a JSON object")
    return fields


def _input_text(fields: Mapping[str, object]) -> str:
    text = fields.get("input")
    if not isinstance(text, str) or not text.strip():
        raise ApiError(HTTPStatus.BAD_REQUEST, "input is the text to speak and is empty", param="input")
    if len(text) > LONGEST_INPUT_CHARACTERS:
        message = f"input has {len(text)} characters, more than {LONGEST_INPUT_CHARACTERS}"
        raise ApiError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message, code="string_above_max_length", param="input")
    return text


def main() -> None:
    """Read the arguments and serve."""
    parser = argparse.ArgumentParser(description="Serve espeak-ng on 127.0.0.1.")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--model", default="espeak-ng", help="name under which it is served")
    parser.add_argument("--voice", default="en-us", help="voice of requests that name none")
    parser.add_argument("--words-per-minute", type=int, default=150, help="rate of speed 1.0")
    args = parser.parse_args()
    if not SLOWEST_WPM <= args.words_per_minute <= FASTEST_WPM:
        parser.error(f"--words-per-minute lies between {SLOWEST_WPM} and {FASTEST_WPM}")
    endpoint = SpeechEndpoint(args.model, args.voice, args.words_per_minute)
    serve(
        args.port,
        Service(
            model=args.model,
            route="/v1/audio/speech",
            load=endpoint.load,
            answer=endpoint.answer,
            problem=lambda: None,
            close=lambda: None,
        ),
    )


if __name__ == "__main__":
    main()
