# Sourced before every command of vLLM-Omni: its virtual environment, and no proxy between programs of this machine.
if [ -n "$VENV" ]; then
    . "$VENV/bin/activate"
fi
export no_proxy="localhost,127.0.0.1,0.0.0.0${no_proxy:+,$no_proxy}"
export NO_PROXY="$no_proxy"
