"""Stand-ins for the chat clients of vLLM-Omni's MiniCPM-o page: real requests to the stand-in server.

They print what the real ones print, exit 0 where those do, and save WAVs into the folder that they run in.
"""

import argparse
import base64
import json
import os
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def ask(base: str, model: str, modalities: Sequence[str] | None) -> Mapping[str, Any]:
    """The server's answer to one request, or its error, as JSON. Raises OSError when nobody answers."""
    body = {"model": model, "modalities": modalities, "messages": [{"role": "user", "content": "stand-in"}]}
    request = urllib.request.Request(f"{base}/v1/chat/completions", json.dumps(body).encode(), method="POST")
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            found: dict[str, Any] = json.loads(answer.read())
    except urllib.error.HTTPError as error:
        found = {"error": {"message": str(error)}}
    for choice in found.get("choices", ()) if modalities == ["text"] else ():
        choice["message"]["audio"] = None
    return found


def curl(argv: Sequence[str]) -> int:
    """`run_curl_multimodal_generation.sh [text|use_image|use_audio|use_video] [MODALITIES]`."""
    kind, modalities = [*argv, "text"][0], json.loads([*argv, "null", "null"][1])
    if kind not in ("text", "use_audio", "use_image", "use_video"):
        print(f"Error: Invalid query type '{kind}'")
        return 1
    host, port = os.environ.get("HOST", "localhost"), os.environ.get("PORT", "8099")
    model = os.environ.get("MODEL", "openbmb/MiniCPM-o-4_5")
    print(f"Running query type: {kind} (host={host} port={port} model={model})\n")
    found = ask(f"http://{host}:{port}", model, modalities)
    choices = found.get("choices", [])
    content = choices[0]["message"]["content"] if choices else json.dumps(found.get("error", found), indent=2)
    print(f"Output of request: {content}")
    print(f"Choices with audio: {sum(choice['message'].get('audio') is not None for choice in choices)}")
    return 0


def minicpmo_client(argv: Sequence[str]) -> int:
    """The client with MiniCPM-o's defaults."""
    return _client(argv, port=8099)


def shared_client(argv: Sequence[str]) -> int:
    """The client of all models, whose defaults are another model's."""
    return _client(argv, port=8091)


def _client(argv: Sequence[str], port: int) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--query-type", default="text")
    parser.add_argument("--model", default="openbmb/MiniCPM-o-4_5")
    parser.add_argument("--modalities")
    parser.add_argument("--prompt")
    parser.add_argument("--host", default="localhost")
    parser.add_argument("--port", type=int, default=port)
    parser.add_argument("--stream", action="store_true")
    options = parser.parse_args(argv)
    modalities = options.modalities.split(",") if options.modalities else None
    found = ask(f"http://{options.host}:{options.port}", options.model, modalities)
    if "choices" not in found:
        raise SystemExit(f"openai.APIStatusError: {found}")
    message = found["choices"][0]["message"]
    if options.stream:
        print(f"\ncontent:{message['content']}", end="", flush=True)
    elif not message["audio"]:
        print("Chat completion output from text:", message["content"])
    for number in range((2 if options.stream else 1) * bool(message["audio"])):
        path = Path(f"audio_{found['id']}_{number}.wav")
        path.write_bytes(base64.b64decode(message["audio"]["data"]))
        print(f"\nAudio saved to {path}")
    return 0
