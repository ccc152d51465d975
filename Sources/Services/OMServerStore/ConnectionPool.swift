#if Server
// Connections that threads take in turn. A thread waits for a free one, but not for ever.

internal import OMSystem

final class ConnectionPool<Connection: AnyObject>: @unchecked Sendable {
    private struct State {
        var idle: [Connection] = []
        /// Those that are idle or taken.
        var count = 0
    }

    private let state = Monitor(State())
    private let make: () throws(StoreError) -> Connection
    private let most: Int
    /// How long a thread waits for a connection, in milliseconds.
    private let wait: Int

    init(most: Int, wait: Int, _ make: @escaping () throws(StoreError) -> Connection) {
        (self.most, self.wait, self.make) = (most, wait, make)
    }

    /// - Throws: ``StoreError/busy`` if no connection became free in time.
    func take() throws(StoreError) -> Connection {
        let most = most
        let found = state.wait(milliseconds: wait) { state -> Connection?? in
            if let connection = state.idle.popLast() { return connection }
            guard state.count < most else { return nil }
            state.count += 1
            return .some(nil)
        }
        guard let found else { throw .busy }
        if let found { return found }
        do throws(StoreError) { return try make() } catch {
            forget()
            throw error
        }
    }

    func give(_ connection: Connection) { state.change { $0.idle.append(connection) } }

    /// A taken connection is not given back: it is broken.
    func forget() { state.change { $0.count -= 1 } }

    /// Closes the idle connections: the database ended one, so it probably ended them all.
    func forgetIdle() {
        let idle = state.change { state in
            defer { state.idle = [] }
            state.count -= state.idle.count
            return state.idle
        }
        // They close here, without the lock.
        withExtendedLifetime(idle) {}
    }
}
#endif
