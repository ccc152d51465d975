// When the remotes of a vault are due. docs/formats/sync.md, "In the agent".

/// The remotes of one vault and their next exchanges. Times are in milliseconds since boot.
struct RemoteSchedule {
    /// After an edit, so that several edits go in one exchange.
    static let afterEdit: Int64 = 3_000
    /// How long looks at the remote can replace an exchange.
    static let longestQuiet: Int64 = 3_600_000
    private static let (shortest, longest): (Int64, Int64) = (1_000, 900_000)
    static let never = Int64.max

    /// How long one watch lasts, and the least that is worth one: more than the wait after an edit.
    private static let (longestWatch, shortestWatch): (Int64, Int64) = (1000 * Int64(ServerHelperRequest.longestWait), 5_000)
    /// A user with a longer interval wants few requests.
    private static let longestWatched: Int64 = 300_000

    /// What is due.
    enum Task: Hashable {
        case exchange
        /// An exchange if the remote or the vault changed since this trace.
        case look(since: [UInt8])
    }

    private struct Remote {
        /// Nil until the user asks.
        var due: Int64?
        /// The next wait for a remote that is not there.
        var pause = shortest
        var isOffline = false
        /// That of the last exchange, if a look can replace the next one.
        var trace: [UInt8]?
        /// When no look replaces an exchange any more.
        var quietEnd: Int64 = 0
        /// When the next watch may begin, and how long the last one was put off after an early end.
        var (watchDue, watchPause): (Int64, Int64) = (0, 0)
    }

    /// A look at a server that waits for a change.
    struct Watch: Hashable {
        let id: UInt8
        /// What was seen last.
        let trace: [UInt8]
        let seconds: UInt8
        /// When it ends if nothing changes.
        let end: Int64
    }

    /// Nil if exchanges are made on request only.
    private let interval: Int64?
    private var remotes: [UInt8: Remote] = [:]
    private var edited: Int64?
    /// The remotes of which the user asked for an exchange, and those whose exchange for him runs.
    private var (asked, answering): (Set<UInt8>, Set<UInt8>) = ([], [])

    init(every interval: Int64?) { self.interval = interval }

    /// When something is due of these remotes.
    func next(of all: [UInt8]) -> Int64 {
        guard asked.isDisjoint(with: all) else { return 0 }
        guard interval != nil else { return Self.never }
        let times = all.compactMap { id in remotes[id].map { $0.due ?? Self.never } ?? 0 }
        return min(times.min() ?? Self.never, edited ?? Self.never)
    }

    /// Whether a request of the user is not answered yet.
    func isAsked(_ id: UInt8) -> Bool { asked.contains(id) || answering.contains(id) }

    /// The user asks for an exchange. This alone ends a stop, and the wait for a remote that is not there.
    mutating func ask(_ id: UInt8) { asked.insert(id) }

    /// More edits do not delay the exchange.
    mutating func noteEdit(at now: Int64) { if interval != nil { edited = edited ?? now + Self.afterEdit } }

    /// The vault was unlocked, or has other keys. A remote that is stopped, or not there, stays as it is.
    mutating func noteKeys(at now: Int64) {
        for (id, remote) in remotes where remote.due != nil && !remote.isOffline {
            remotes[id]?.due = now
            remotes[id]?.trace = nil
        }
    }

    /// Those of `all` that are due. A remote that is not there keeps its wait after an edit.
    mutating func takeDue(of all: [UInt8], at now: Int64) -> [(id: UInt8, task: Task)] {
        let hasEdits = edited.map { $0 <= now } ?? false
        if hasEdits { edited = nil }
        remotes = remotes.filter { all.contains($0.key) }
        return all.compactMap { id in
            if asked.remove(id) != nil {
                answering.insert(id)
                return (id, .exchange)
            }
            guard interval != nil else { return nil }
            guard let remote = remotes[id] else { return (id, .exchange) }
            guard let due = remote.due else { return nil }
            if hasEdits, !remote.isOffline { return (id, .exchange) }
            guard due <= now else { return nil }
            guard let trace = remote.trace, now < remote.quietEnd else { return (id, .exchange) }
            return (id, .look(since: trace))
        }
    }

    /// The watch that may begin now, of these servers, or the time of the next one.
    ///
    /// - Parameter next: When something else is due.
    func watch(of servers: [UInt8], at now: Int64, until next: Int64) -> (watch: Watch?, due: Int64) {
        guard let interval, interval <= Self.longestWatched else { return (nil, Self.never) }
        let candidates = servers.compactMap { id in remotes[id].map { (id: id, remote: $0) } }
            .filter { $0.remote.trace != nil && $0.remote.due != nil && !$0.remote.isOffline && now < $0.remote.quietEnd }
        guard let first = candidates.min(by: { $0.remote.watchDue < $1.remote.watchDue }), let trace = first.remote.trace,
            next - max(now, first.remote.watchDue) >= Self.shortestWatch
        else { return (nil, Self.never) }
        guard first.remote.watchDue <= now else { return (nil, first.remote.watchDue) }
        let seconds = UInt8(min(next - now, Self.longestWatch) / 1000)
        return (Watch(id: first.id, trace: trace, seconds: seconds, end: now + 1000 * Int64(seconds)), now)
    }

    /// How a watch ended.
    enum WatchEnding {
        case quiet, changed, failed
    }

    /// Attack, or accident: a server answers at once each time, so the agent asks it without a pause. After an early end the next
    /// watch begins later, at last after the interval. A watch that lasts its time ends that.
    mutating func note(_ ending: WatchEnding, of watch: Watch, at now: Int64) {
        guard let interval, var remote = remotes[watch.id] else { return }
        let isWhole = now >= watch.end - 1_000
        remote.watchPause = isWhole ? 0 : min(max(1_000, 2 * remote.watchPause), interval)
        remote.watchDue = now + remote.watchPause
        switch ending {
        case .quiet: remote.due = now + interval
        case .changed: remote.due = min(remote.due ?? Self.never, now)
        // The next look finds out whether the server is there.
        case .failed: break
        }
        remotes[watch.id] = remote
    }

    /// A look found no change.
    mutating func noteQuiet(_ id: UInt8, at now: Int64) { remotes[id]?.due = now + (interval ?? 0) }

    /// After an exchange, a look can replace the next ones as long as nothing differs from this trace.
    mutating func noteTrace(_ trace: [UInt8], of id: UInt8) { remotes[id]?.trace = trace }

    /// An exchange ended.
    mutating func note(_ state: RemoteState, of id: UInt8, at now: Int64) {
        answering.remove(id)
        var remote = remotes[id] ?? Remote()
        (remote.isOffline, remote.trace, remote.quietEnd) = (state == .offline, nil, now + Self.longestQuiet)
        switch state {
        case .offline:
            // Not all devices at the same moment when a share comes back.
            remote.due = now + Int64.random(in: remote.pause / 2...remote.pause)
            remote.pause = min(2 * remote.pause, Self.longest)
        case .stopped: remote.due = nil
        default: (remote.due, remote.pause) = (now + (interval ?? 0), Self.shortest)
        }
        remotes[id] = remote
    }

    /// The exchange was cut off. It is due again, also for the user who asked.
    mutating func noteInterrupted(_ id: UInt8, at now: Int64) {
        if answering.remove(id) != nil { asked.insert(id) }
        if remotes[id]?.due != nil { remotes[id]?.due = now }
        remotes[id]?.trace = nil
    }

    /// The keys are gone. No one waits any more.
    mutating func dropRequests() { (asked, answering) = ([], []) }
}
