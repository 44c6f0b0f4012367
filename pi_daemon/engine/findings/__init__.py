"""Where a path and the world differ, in words: one file for each part of the world."""
