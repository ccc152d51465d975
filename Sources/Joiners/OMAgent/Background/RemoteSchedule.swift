// When the remotes of a vault are due. docs/formats/sync.md, "In the agent".

/// The remotes of one vault and their next exchanges. Times are in milliseconds since boot.
struct RemoteSchedule {
    /// After an edit, so that several edits go in one exchange.
    static let afterEdit: Int64 = 3_000
    private static let (shortest, longest): (Int64, Int64) = (1_000, 900_000)

    private struct Remote {
        /// Nil until the next unlock.
        var due: Int64?
        /// The next wait for a remote that is not there.
        var pause = shortest
        var isOffline = false
    }

    private let interval: Int64
    private var remotes: [UInt8: Remote] = [:]
    private var edited: Int64?
    /// When to look at the list of remotes again.
    private var look: Int64 = 0

    init(every interval: Int64) { self.interval = interval }

    /// When something is due.
    var next: Int64 { ([look, edited].compactMap(\.self) + remotes.values.compactMap(\.due)).min() ?? look }

    /// More edits do not delay the exchange.
    mutating func noteEdit(at now: Int64) { edited = edited ?? now + Self.afterEdit }

    /// Those of `all` that are due. A remote that is not there keeps its wait after an edit.
    mutating func takeDue(of all: [UInt8], at now: Int64) -> [UInt8] {
        let hasEdits = edited.map { $0 <= now } ?? false
        if hasEdits { edited = nil }
        look = now + interval
        remotes = remotes.filter { all.contains($0.key) }
        return all.filter { id in
            guard let remote = remotes[id] else { return true }
            guard let due = remote.due else { return false }
            return due <= now || hasEdits && !remote.isOffline
        }
    }

    mutating func note(_ state: RemoteState, of id: UInt8, at now: Int64) {
        var remote = remotes[id] ?? Remote()
        remote.isOffline = state == .offline
        switch state {
        case .idle, .waiting: (remote.due, remote.pause) = (now + interval, Self.shortest)
        case .offline:
            // Not all devices at the same moment when a share comes back.
            remote.due = now + Int64.random(in: remote.pause / 2...remote.pause)
            remote.pause = min(2 * remote.pause, Self.longest)
        case .held, .stopped: remote.due = nil
        }
        remotes[id] = remote
    }

    /// The vault could not be opened now.
    mutating func postpone(at now: Int64) { (look, edited) = (now + interval, nil) }
}
