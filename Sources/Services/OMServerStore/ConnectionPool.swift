#if Server
// Connections that threads take in turn. A thread waits for a free one, but not for ever.

internal import OMSystem

final class ConnectionPool<Connection: AnyObject>: @unchecked Sendable {
    /// How long a thread waits for a connection, in milliseconds.
    static var longestWait: Int { 5_000 }

    private struct State {
        var idle: [Connection] = []
        /// Those that are idle or taken.
        var count = 0
    }

    private let state = Monitor(State())
    private let make: () throws(StoreError) -> Connection
    private let most: Int

    init(most: Int, _ make: @escaping () throws(StoreError) -> Connection) { (self.most, self.make) = (most, make) }

    /// - Throws: ``StoreError/busy`` if no connection became free in time.
    func take() throws(StoreError) -> Connection {
        let most = most
        let found = state.wait(milliseconds: Self.longestWait) { state -> Connection?? in
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
}
#endif
