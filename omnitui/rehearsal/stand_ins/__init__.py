"""Programs that stand in for those that need a GPU, a container engine or the internet. Standard library only.

They know each other by files below `$OMNITUI_REHEARSAL`, and each says "stand-in" where a reader will see it.
"""
