#if Server
// A client that waits for a change of a remote.

package import OMServerStore

/// Part of an answer "not changed": the client would wait some seconds for another one.
package struct ChangeWait: Hashable, Sendable {
    /// The remote's id in the store.
    package let remote: [UInt8]
    /// The number that the client has.
    package let change: Int64
    /// 1 to 55.
    package let seconds: Int

    package init(remote: [UInt8], change: Int64, seconds: Int) {
        (self.remote, self.change, self.seconds) = (remote, change, seconds)
    }

    private static let mostAtOnce = 100

    /// The numbers that the remotes have now. One that is not there any more has none.
    package static func changes(
        of remotes: Set<[UInt8]>, _ transaction: any StoreTransaction
    ) throws(StoreError) -> [[UInt8]: Int64] {
        let all = Array(remotes)
        var changes: [[UInt8]: Int64] = [:]
        // One wait for many remotes: thousands of clients may wait.
        for start in stride(from: 0, to: all.count, by: mostAtOnce) {
            let part = all[start..<min(start + mostAtOnce, all.count)]
            let statements = part.map { SQLStatement("SELECT change FROM remote WHERE id = ?1", .bytes($0)) }
            for (remote, rows) in zip(part, try transaction.answers(statements)) {
                if let row = rows.first { changes[remote] = try row.number(0) }
            }
        }
        return changes
    }
}
#endif
