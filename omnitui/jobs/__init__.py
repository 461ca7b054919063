"""Jobs: start, watch, adopt and stop one bash process group that lives in a folder of its own."""
