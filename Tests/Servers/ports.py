"""Ports that stay with a process until it ends, whether it listens there or not.

Attack on a test: a port that was given back, or that is expected to be closed, is taken by another test's server, which then
sees foreign requests, or answers where nobody should.
"""
import socket

held = []


def hold(family=socket.AF_INET, host="127.0.0.1", port=0):
    """Binds a port and does not listen. A server that this test starts listens there by SO_REUSEADDR. The system gives the port to
    no other process, and while no server listens a connection to it is refused."""
    holder = socket.socket(family)
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        holder.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    holder.bind((host, port))
    held.append(holder)
    return holder.getsockname()[1]
