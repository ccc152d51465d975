"""Pushes and conditional GETs a second, beside the commits of PostgreSQL and SQLite."""
import functools, itertools, os, re, statistics, time

import clients, programs, remotes

PROCESSES = 2
MOST_PUSHES = 58  # of a device in a round: the server takes 60 heads of it a minute


def pushing(server, owned, done):
    """Jobs of one connection: the prepared pushes of its remotes, in turn. `done` counts those of each remote."""
    for remote in itertools.cycle(owned):
        if not any(one.ready for one in owned):
            return
        if not remote.ready:
            continue
        yield remote.next_push(server.tokens[remote.account]), b"204", functools.partial(note, remote, done)


def note(remote, done, is_right):
    if is_right:
        remote.pushed()
        done[remote.path] = done.get(remote.path, 0) + 1


def read_tags(server, owned):
    """The numbers of the lists: a push whose answer did not come in time may have raised one."""
    sock = clients.connect(server.port)
    for remote in owned:
        _, answer = clients.ask(sock, remotes.request(b"GET", remote.path + b"/files", server.tokens[remote.account]))
        remote.tag = re.search(rb'\r\netag: *("\d+")', answer, re.IGNORECASE)[1]
    sock.close()


def looking(server, owned):
    requests = [remote.look(server.tokens[remote.account]) for remote in owned]
    return ([[request], b"304", lambda _: None] for request in itertools.cycle(requests))


def rate(server, owned, connections, seconds, is_push):
    """Runs one round. Gives the rate, the seconds of each job, and the statuses of failures."""
    begin = time.monotonic() + 0.5

    def process(index):
        done, times, failures = {}, [], []
        callers = []
        for number in range(index, connections, PROCESSES):
            mine = owned[number::connections]
            callers.append(clients.Caller(server.port, pushing(server, mine, done) if is_push else looking(server, mine)))
        time.sleep(max(0, begin - time.monotonic()))
        clients.drive(callers, begin + seconds, lambda one: (times if isinstance(one, float) else failures).append(one))
        failures += [b"no more pushes prepared" for one in callers if one.has_ended]
        return done, times, failures

    results = clients.together([lambda index=index: process(index) for index in range(PROCESSES)])
    by_path = {remote.path: remote for remote in owned}
    for done, _, _ in results:
        for path, count in done.items():
            for _ in range(count):
                by_path[path].pushed()
    times = [one for _, some, _ in results for one in some]
    return len(times) / seconds, times, [one for _, _, some in results for one in some]


def prepare(owned, count):
    for remote in owned:
        while len(remote.ready) < min(count, MOST_PUSHES):
            remote.push()


def measure(stores, cluster, folder, options, progress):
    """- Returns: for each row of the result, its rates, the seconds of each job, and the failures; and the load averages."""
    found, latest, failed, loads = {}, {}, {}, []
    counts = {name: 40 for name in stores}
    for number in range(options.rounds):
        loads.append(os.getloadavg()[0])
        for name, (server, owned) in stores.items():
            for account in {remote.account for remote in owned}:
                server.log_in(account)
            progress(f"round {number + 1} of {options.rounds}: prepares pushes")
            prepare(owned, counts[name])
        steps = []
        for name in stores:
            steps += [("commits", name), ("pushes", name), ("conditional GETs", name)]
        for kind, name in steps:
            progress(f"round {number + 1} of {options.rounds}: {kind}, {name}")
            if kind == "commits":
                if name == "SQLite":
                    value = programs.sqlite_commits(folder, options.seconds)
                else:
                    value = programs.postgres_commits(cluster, options.clients, options.seconds)
            else:
                server, owned = stores[name]
                if kind != "pushes":
                    read_tags(server, owned)
                value, times, failures = rate(server, owned, options.clients, options.seconds, kind == "pushes")
                if not times:
                    raise RuntimeError(f"no {kind} on {name}: {failures[:3]}")
                latest.setdefault((kind, name), []).extend(times)
                failed.setdefault((kind, name), []).extend(failures)
                if kind == "pushes":
                    counts[name] = int(value * options.seconds * 1.3 / len(owned)) + 3
            found.setdefault((kind, name), []).append(value)
    return found, latest, failed, loads


def milliseconds(times, share):
    ordered = sorted(times)
    return 1000 * ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def table(found, latest, failed, loads, options):
    lines = [f"| store | rate | median of {options.rounds} | least and most | median and p99 of one | beside |",
             "|---|---|---:|---:|---:|---:|"]
    for (kind, name), rates in found.items():
        both, beside = "", ""
        if (kind, name) in latest:
            both = " and ".join(f"{milliseconds(latest[kind, name], share):.1f} ms" for share in (0.5, 0.99))
        if kind == "pushes":
            ratios = [one / other for one, other in zip(rates, found["commits", name])]
            beside = f"{statistics.median(ratios):.2f} × its commits"
        lines.append(f"| {name} | {kind} a second | {statistics.median(rates):,.0f} | {min(rates):,.0f} … {max(rates):,.0f} "
                     f"| {both} | {beside} |")
    for (kind, name), failures in failed.items():
        if failures:
            lines.append(f"| {name} | {kind} that failed | {len(failures)} | {sorted(set(failures))} | | |")
    return lines + ["", "Load average at the beginning of each round: " + ", ".join(f"{one:.1f}" for one in loads) + "."]
