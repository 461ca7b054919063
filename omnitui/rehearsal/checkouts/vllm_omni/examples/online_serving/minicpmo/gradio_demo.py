"""Stand-in for the Gradio demo."""

import sys

from omnitui.rehearsal.stand_ins.minicpmo_demos import gradio_demo

if __name__ == "__main__":
    sys.exit(gradio_demo(sys.argv[1:]))
