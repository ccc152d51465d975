"""The server's memory while clients push, look, list, read and log in."""
import itertools, re, statistics, time

import clients, rates, remotes

CONNECTIONS = 8
PACE = 0.2  # seconds from one job to the next one of a connection


def mixed(server, owned):
    """Jobs of one connection: a push, ten looks, a list, and the pack of the push."""
    for remote in itertools.cycle(owned):
        token = server.tokens[remote.account]
        push = remote.next_push(token)
        path = remote.ready[0][0][0]
        yield push, b"204", lambda is_right, remote=remote: remote.pushed() if is_right else None
        yield [remote.look(token)] * 10, b"304", lambda _: None
        yield [remotes.request(b"GET", remote.path + b"/files", token), remotes.request(b"GET", path, token)], b"200", \
            lambda _: None


def load(server, owned, end):
    failures = []
    counts = [0, failures]
    rates.read_tags(server, owned)

    def tally(one):
        if isinstance(one, float):
            counts[0] += 1
        else:
            failures.append(one)

    callers = [clients.Caller(server.port, mixed(server, owned[number::CONNECTIONS]), PACE / 3) for number in range(CONNECTIONS)]
    clients.drive(callers, end, tally)
    return counts


def measure(servers, options, progress):
    """Loads all servers for some minutes. Gives for each the KiB of every sample, the jobs and the failures."""
    begin = time.monotonic()
    end = begin + 60 * options.minutes
    for server, owned in servers.values():
        for account in {remote.account for remote in owned}:
            server.log_in(account)
    running = {name: clients.Process(lambda send, one=one: load(*one, end)) for name, one in servers.items()}
    samples = {name: [] for name in servers}
    try:
        for number in range(int(6 * options.minutes) + 1):
            time.sleep(max(0, begin + 10 * number - time.monotonic()))
            for name, (server, _) in servers.items():
                samples[name].append(server.memory()[0])
            progress(f"memory, minute {number / 6:.1f} of {options.minutes:g}: " +
                     ", ".join(f"{name} {some[-1]:,} KiB" for name, some in samples.items()))
            if number < 6 * options.minutes:
                time.sleep(5)
                for server, owned in servers.values():
                    server.log_in(owned[0].account)
        return {name: (samples[name], *one.wait()) for name, one in running.items()}
    finally:
        for one in running.values():
            one.end()


def growth(samples):
    """KiB a minute over the last half: the slope of the line through the samples."""
    last = samples[len(samples) // 2:]
    if len(last) < 3:
        return 0.0
    return 6 * statistics.linear_regression(range(len(last)), last).slope


def table(found, options):
    minutes = range(1, int(options.minutes) + 1)
    lines = ["| store | start | " + " | ".join(f"{minute} min" for minute in minutes) +
             " | KiB a minute, last half | jobs, failed |",
             "|---|" + "---:|" * (len(minutes) + 3)]
    for name, (samples, jobs, failures) in found.items():
        shown = [samples[0]] + [statistics.median(samples[6 * minute - 5:6 * minute + 1]) for minute in minutes]
        lines.append(f"| {name}, KiB | " + " | ".join(f"{one:,.0f}" for one in shown) +
                     f" | {growth(samples):+,.0f} | {jobs:,}, {len(failures)} |")
    return lines
