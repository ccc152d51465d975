"""Ports that a process keeps until it ends, even if it does not listen there.

Attack on a test: another test's server takes a port that was released, or that must stay closed. That server then sees
foreign requests, or answers at a port that must refuse.
"""
import socket

held = []


def hold(family=socket.AF_INET, host="127.0.0.1", port=0):
    """Binds a port and does not listen. A server that this test starts can listen there by SO_REUSEADDR. The system gives the
    port to no other process. While no server listens, the system refuses connections."""
    holder = socket.socket(family)
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        holder.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    holder.bind((host, port))
    held.append(holder)
    return holder.getsockname()[1]
