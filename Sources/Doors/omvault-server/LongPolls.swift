#if Server
// Clients that wait for a change of a remote. docs/formats/sync.md, "Over HTTP".

internal import NIOCore
internal import OMServer
internal import OMServerStore

/// One look at the store each second serves all who wait, so several servers can share one store.
actor LongPolls {
    static let mostWaiting = 10_000
    /// Of one remote: it has 32 devices at most.
    static let mostOfRemote = 64

    private struct Waiting {
        let wait: ChangeWait
        let end: ContinuousClock.Instant
        let continuation: CheckedContinuation<Bool, Never>
    }

    private let store: any ServerStore
    private let threads: BoundedThreads
    private var waiting: [Int: Waiting] = [:]
    private var next = 0
    private var isLooking = false
    private var isStopped = false

    init(_ store: any ServerStore, threads: BoundedThreads) { (self.store, self.threads) = (store, threads) }

    /// Waits until the remote has another change number than the client's, until the time is over, or until the client is gone.
    ///
    /// - Returns: Whether it has.
    func changed(_ wait: ChangeWait, until closed: EventLoopFuture<Void>) async throws -> Bool {
        guard !isStopped, waiting.count < Self.mostWaiting,
            waiting.values.count(where: { $0.wait.remote == wait.remote }) < Self.mostOfRemote
        else { throw ServerProblem.busy() }
        next += 1
        let key = next
        // Attack: a client asks to wait, goes away and comes again, so that others find no place.
        closed.whenComplete { _ in Task { await self.end(key, false) } }
        return await withCheckedContinuation { continuation in
            waiting[key] = Waiting(wait: wait, end: .now + .seconds(wait.seconds), continuation: continuation)
            guard !isLooking else { return }
            isLooking = true
            Task { await look() }
        }
    }

    /// Answers all who wait: the server stops.
    func stop() {
        isStopped = true
        for key in waiting.keys { end(key, false) }
    }

    private func look() async {
        while !waiting.isEmpty {
            try? await Task.sleep(for: .seconds(1))
            let remotes = Set(waiting.values.map(\.wait.remote))
            let store = store
            let changes = try? await threads.runUnbounded {
                try store.transaction(.read) { try ChangeWait.changes(of: remotes, $0) }
            }
            for (key, one) in waiting {
                if let changes, changes[one.wait.remote] != one.wait.change {
                    end(key, true)
                } else if one.end <= .now {
                    end(key, false)
                }
            }
        }
        isLooking = false
    }

    private func end(_ key: Int, _ isChanged: Bool) {
        waiting.removeValue(forKey: key)?.continuation.resume(returning: isChanged)
    }
}
#endif
