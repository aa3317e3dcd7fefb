"""Listening sockets: taking a port, or saying who has it."""

import os
import socket

import psutil

from levelcap.kit.errors import StateError, refuse


def bind(host: str, port: int, name: str) -> socket.socket:
    """Takes the port for a service.

    Raises:
        StateError: it is taken, or not ours to take; names the process that has it, if known.
    """
    try:
        return socket.create_server((host, port), backlog=256)
    except OSError as error:
        owner = port_owner(port) or "a process that the system does not name"
        what = f"{name} cannot listen on port {port} ({os.strerror(error.errno or 0)})"
        remedy = "Stop that process, or set port_offset"
        raise StateError(refuse(what, owner, remedy)) from error


def port_owner(port: int) -> str | None:
    """Names the process that listens on a port, when the system tells."""
    try:
        for found in psutil.net_connections("tcp"):
            if found.status == psutil.CONN_LISTEN and found.laddr.port == port and found.pid:
                return f"{psutil.Process(found.pid).name()} (pid {found.pid})"
    except (psutil.Error, OSError):
        return None
    return None
