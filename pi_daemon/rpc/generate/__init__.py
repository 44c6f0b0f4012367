"""The documents and the client types that come from the protocol's types: `python -m pi_daemon.rpc.generate`.

model.py       what the tables and the types say, ready to be written in any language
markdown.py    protocol.md
schema.py      clients/protocol.schema.json
typescript.py  clients/typescript/src/protocol.ts
python.py      clients/python/pi_daemon_client/_types.py
"""
