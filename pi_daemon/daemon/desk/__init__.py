"""A process beside the daemon, in which the material of one summary is read: nobody waits for the interpreter
meanwhile, its memory goes back when it ends, and it can be stopped at any moment.

The daemon writes frames to its standard input: the order, the portions, and an empty one when it is time for the brief.
It answers each but the first with a frame.
"""
