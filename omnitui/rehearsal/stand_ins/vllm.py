"""Stand-in for `vllm`: `serve`, with vLLM-Omni's options looked at, and `bench`."""

import json
from pathlib import Path

from omnitui.rehearsal.stand_ins import gpus, serve, stage, vllm_bench

CARDS = {
    "minicpmo_4_5.yaml": 1,
    "minicpmo_4_5_2gpu.yaml": 2,
    "minicpmo_4_5_3gpu.yaml": 3,
    "minicpmo_4_5_8x4090.yaml": 8,
}
"""How many cards a deploy config takes."""


def main(argv: list[str]) -> int:
    """`vllm serve MODEL --served-model-name N --port P ...` and `vllm bench ...`."""
    if argv[:1] == ["--version"]:
        print("0.0 (stand-in vllm)")
        return 0
    if argv[:1] == ["bench"]:
        return vllm_bench.main(argv[1:])
    if argv[:1] != ["serve"] or len(argv) < 2:
        stage.say("vllm", f"serves and benches; not {' '.join(argv)[:80]!r}")
        return 2
    cards = 1
    if deploy := serve.option(argv, "--deploy-config"):
        cards = CARDS[Path(deploy).name]
        if not Path(deploy).is_file():
            raise SystemExit(f"FileNotFoundError: {deploy}")
    if len(gpus.for_cuda()) < cards:
        raise SystemExit(f"RuntimeError: stand-in: {cards} GPUs wanted, {len(gpus.for_cuda())} are visible")
    json.loads(serve.option(argv, "--stage-overrides", default="{}"))
    media = serve.option(argv, "--allowed-local-media-path")
    if media and not Path(media).is_dir():
        raise SystemExit(f"ValueError: invalid --allowed-local-media-path: {media}")
    name = serve.option(argv, "--served-model-name", default=argv[1])
    host = serve.option(argv, "--host", default="127.0.0.1")
    return serve.serve("vllm", name, int(serve.option(argv, "--port", default="8000")), host, cards)
