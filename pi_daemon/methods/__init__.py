"""The handlers, one file for each noun of the protocol: decode, call the engine once, return a result."""
