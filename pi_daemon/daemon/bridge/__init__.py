"""`pi-daemon connect`: what an editor starts to reach the user's one daemon over stdin and stdout.

join.py        finds the daemon that runs, or starts one
state.py       what passes between client and daemon, and what is to be done when the daemon is another (no IO)
messages.py    what is read of a message
documents.py   the client's open documents, to open them again (no IO)
pending.py     bytes that wait for a slow reader
relay.py       bytes between the two, without an event loop
connect.py     the command

An editor starts one for each of its windows, and its user waits for that: what is imported here is counted in
milliseconds, and asyncio is forty of them. And it lives long: the program may be updated meanwhile, so nothing of it is
imported later than at the start.
"""
