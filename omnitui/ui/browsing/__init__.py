"""What the results browser shows: from catalog rows, passes and comparisons to lines. Pure, but for `reading`."""
