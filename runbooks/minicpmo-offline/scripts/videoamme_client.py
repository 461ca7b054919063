"""The Video-AMME client without its WER step: read from stdin, so that `benchmarks` comes from the checkout."""

import argparse
import asyncio

from benchmarks.eval import benchmark_omni_videoamme as videoamme

parser = argparse.ArgumentParser()
videoamme.add_video_eval_args(parser, repo_help="")
config = videoamme.video_eval_config_from_args(parser.parse_args())
asyncio.run(videoamme.run_videoamme_eval(config, compute_wer=False))
