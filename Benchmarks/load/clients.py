"""Clients that send prepared requests, in processes of their own. Each connection has one request at a time."""
import multiprocessing, re, select, socket, time

LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
forked = multiprocessing.get_context("fork")


def connect(port, source=None):
    made = socket.create_connection(("127.0.0.1", port), 60, (source, 0) if source else None)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def whole(answer):
    """The length of the first answer in these bytes. None if it is not there yet."""
    end = answer.find(b"\r\n\r\n")
    if end < 0:
        return None
    length = None if answer[9:12] in (b"204", b"304") else LENGTH.search(answer, 0, end + 2)
    size = end + 4 + (int(length[1]) if length else 0)
    return size if len(answer) >= size else None


def ask(sock, request):
    """Sends a request and waits for its answer.

    - Returns: the status and the answer."""
    sock.sendall(request)
    answer = b""
    while whole(answer) is None:
        more = sock.recv(1 << 18)
        if not more:
            raise ConnectionError("the server closed the connection")
        answer += more
    return int(answer[9:12]), answer


class Caller:
    """A connection and its jobs. A job is a list of requests, the status that each must get, and what is called at its end."""

    def __init__(self, port, jobs, pace=0):
        self.sock, self.jobs, self.pace = connect(port), jobs, pace
        self.answer, self.due, self.has_ended = b"", 0, False

    def begin(self, now):
        """Sends the first request of the next job, if there is one."""
        job = next(self.jobs, None)
        if job is None:
            self.has_ended = True
            return
        requests, self.wanted, self.done = job
        self.requests, self.began, self.due = iter(requests), now, now + self.pace
        self.sock.sendall(next(self.requests))


def drive(callers, end, tally):
    """Runs the jobs until `end`. `tally` gets the seconds of each job, or the status that it must not have."""
    poll, by_fd, waiting = select.epoll(), {}, []
    for caller in callers:
        by_fd[caller.sock.fileno()] = caller
        poll.register(caller.sock, select.EPOLLIN)
        caller.begin(time.monotonic())
    while True:
        now = time.monotonic()
        if now >= end or not by_fd:
            break
        for caller in [one for one in waiting if one.due <= now]:
            waiting.remove(caller)
            caller.begin(now)
        for fd, _ in poll.poll(min(end - now, 0.02 if waiting else 1)):
            caller = by_fd[fd]
            data = caller.sock.recv(1 << 18)
            caller.answer = caller.answer + data if caller.answer else data
            if data and whole(caller.answer) is None:
                continue
            status, caller.answer = caller.answer[9:12], b""
            if status == caller.wanted:
                following = next(caller.requests, None)
                if following is not None:
                    caller.sock.sendall(following)
                    continue
            now = time.monotonic()
            if now > end:
                break
            tally(now - caller.began if status == caller.wanted else status)
            caller.done(status == caller.wanted)
            if not data:
                poll.unregister(fd)
                del by_fd[fd]
            elif caller.due > now:
                waiting.append(caller)
            else:
                caller.begin(now)
    for caller in callers:
        caller.sock.close()


class Process:
    """A process that runs `body(send)`, and whose last message is its result."""

    def __init__(self, body):
        self.pipe, other = forked.Pipe()

        def run():
            self.pipe.close()
            other.send(body(other.send))

        self.process = forked.Process(target=run, daemon=True)
        self.process.start()
        other.close()

    def wait(self):
        try:
            return self.pipe.recv()
        except EOFError:
            raise RuntimeError("a client process ended") from None

    def end(self):
        self.process.kill()
        self.process.join()


def together(bodies):
    """Runs the bodies in a process each, and gives their results."""
    processes = [Process(lambda send, body=body: body()) for body in bodies]
    try:
        return [one.wait() for one in processes]
    finally:
        for one in processes:
            one.end()
