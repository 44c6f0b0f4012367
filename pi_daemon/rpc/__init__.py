"""JSON-RPC as LSP frames it: framing, codec, one connection's state, its outbox, and the protocol's types."""
