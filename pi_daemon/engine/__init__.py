"""The open sessions: `LiveSession` is the sole mutator of one, `Hub` knows which are open."""
