"""What a session is: entries, the tree they form, paths, and what a model sees of a path. Pure: no IO, no clock."""
