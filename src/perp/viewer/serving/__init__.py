"""The server: who may speak, files and sockets, one process a page; pages without a server."""
