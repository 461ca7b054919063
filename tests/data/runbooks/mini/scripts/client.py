"""A client: one request a sample, a WAV for each, and `speed_results.json`."""

import http.client
import json
import os
import time
import wave
from pathlib import Path

OUT = Path(os.environ["OUT"])


def sample(connection: http.client.HTTPConnection, number: int) -> dict[str, object]:
    """Ask once, and write a short square wave."""
    begun = time.monotonic()
    connection.request("GET", "/v1/models")
    connection.getresponse().read()
    with wave.open(str(OUT / "wavs" / f"s{number}.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        file.writeframes(b"\x00\x10" * 80 + b"\x00\xf0" * 80)
    return {"id": f"s{number}", "latency_s": time.monotonic() - begun}


def main() -> None:
    """Measure."""
    time.sleep(float(os.environ["CLIENT_S"]))
    (OUT / "wavs").mkdir()
    connection = http.client.HTTPConnection("127.0.0.1", int(os.environ["PORT"]), timeout=10)
    samples = [sample(connection, number) for number in range(int(os.environ["SAMPLES"]))]
    latency = sum(float(str(one["latency_s"])) for one in samples) / len(samples)
    body = {"samples": samples, "summary": {"latency_s": latency, "failed": 0}}
    (OUT / "speed_results.json").write_text(json.dumps(body))


main()
