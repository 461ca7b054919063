"""Serve pocketsphinx as an OpenAI-style speech recognition endpoint on 127.0.0.1.

    GET  /health                    200 when every recogniser process is loaded and alive, 503 otherwise
    GET  /v1/models                 the one model
    POST /v1/audio/transcriptions   multipart/form-data (file, model, language, response_format) -> {"text": ...}

It hears the 36 words of radio spelling (letters and digits) in any number and order: see `speech_recogniser`.
"""

from __future__ import annotations

import argparse
import email.message
import email.parser
import email.policy
from collections.abc import Mapping
from http import HTTPStatus

from speech_audio import UnusableAudio, read_audio, to_recogniser_pcm
from speech_http import ApiError, Reply, Request, Service, check_model, json_reply, serve
from speech_recogniser import RecogniserDied, RecogniserPool


def parse_form(content_type: str, body: bytes) -> Mapping[str, bytes]:
    """Return the fields of a multipart/form-data body (RFC 7578), files included, as raw bytes.

    Raises `ApiError` (400) when it is not such a body, is cut, or names a field twice.
    """
    head = b"Content-Type: " + content_type.encode("latin-1", "replace") + b"\r\n\r\n"
    form = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + body)
    if form.get_content_type() != "multipart/form-data" or not form.is_multipart():
        raise ApiError(HTTPStatus.BAD_REQUEST, "the body is not multipart/form-data")
    if form.defects:
        names = ", ".join(type(defect).__name__ for defect in form.defects)
        raise ApiError(HTTPStatus.BAD_REQUEST, f"the form cannot be read: {names}")
    fields: dict[str, bytes] = {}
    for part in form.iter_parts():
        name = part.get_param("name", header="content-disposition")
        value = part.get_payload(decode=True)
        if not isinstance(name, str) or not isinstance(value, bytes) or name in fields:
            raise ApiError(HTTPStatus.BAD_REQUEST, f"the form's part {name!r} cannot be read or is there twice")
        fields[name] = value
    return fields


class TranscriptionEndpoint:
    """POST /v1/audio/transcriptions."""

    def __init__(self, model: str, workers: int) -> None:
        """Set what is served; `load` starts the recogniser processes."""
        self._model, self._workers = model, workers
        self._pool: RecogniserPool | None = None

    def load(self) -> None:
        """Start the recogniser processes; raises `RecogniserDied`."""
        self._pool = RecogniserPool(self._workers)

    def problem(self) -> str | None:
        """Name what broke since, or None."""
        return self._pool.problem() if self._pool else None

    def close(self) -> None:
        """End the recogniser processes."""
        if self._pool:
            self._pool.stop()

    def answer(self, request: Request) -> Reply:
        """Transcribe one request; raises `ApiError`."""
        assert self._pool is not None
        fields = parse_form(request.content_type, request.body)
        check_model(_text(fields, "model", ""), self._model)
        if _text(fields, "language", "en") not in {"en", "en-us"}:
            raise ApiError(HTTPStatus.BAD_REQUEST, "only English is served", param="language")
        if _text(fields, "response_format", "json") != "json":
            raise ApiError(HTTPStatus.BAD_REQUEST, "only json is served", param="response_format")
        if "file" not in fields:
            raise ApiError(HTTPStatus.BAD_REQUEST, "the form has no file", param="file")
        try:
            samples, rate_hz = read_audio(fields["file"])
            return json_reply({"text": self._pool.recognise(to_recogniser_pcm(samples, rate_hz))})
        except UnusableAudio as error:
            raise ApiError(HTTPStatus.BAD_REQUEST, str(error), param="file") from error
        except RecogniserDied as error:
            raise ApiError(HTTPStatus.INTERNAL_SERVER_ERROR, str(error)) from error


def _text(fields: Mapping[str, bytes], name: str, default: str) -> str:
    return fields[name].decode("utf-8", "replace") if name in fields else default


def main() -> None:
    """Read the arguments and serve."""
    parser = argparse.ArgumentParser(description="Serve pocketsphinx on 127.0.0.1.")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--model", default="pocketsphinx", help="name under which it is served")
    parser.add_argument("--workers", type=int, default=2, help="recogniser processes, 1 to 16")
    args = parser.parse_args()
    if not 1 <= args.workers <= 16:
        parser.error("--workers lies between 1 and 16")
    endpoint = TranscriptionEndpoint(args.model, args.workers)
    serve(
        args.port,
        Service(
            model=args.model,
            route="/v1/audio/transcriptions",
            load=endpoint.load,
            answer=endpoint.answer,
            problem=endpoint.problem,
            close=endpoint.close,
        ),
    )


if __name__ == "__main__":
    main()
