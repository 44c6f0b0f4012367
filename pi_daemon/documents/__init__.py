"""A session file as a document: what any LSP client gets that opens one.

Beside `methods`: it knows the engine and the wire, and has no parser of sessions. It reads; what a command writes, the
protocol's own methods write.
"""
