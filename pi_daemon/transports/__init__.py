"""The ways in: stdio, Unix socket, TCP and WebSocket, thin shells around `pi_daemon.rpc`.

channel.py     one connection over a socket; its framed kind serves Unix and TCP
server.py      what the listening transports have in common
stream.py      UnixServer, TcpServer
stdio.py       StdioServer
websocket.py   WebSocketServer
panel.py       PanelServer: the panel's files, and its WebSocket
"""
