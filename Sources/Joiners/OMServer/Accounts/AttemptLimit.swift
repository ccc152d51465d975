#if Server
// How many passwords one address may try, and how many tokens an account gets. docs/formats/server-protocol.md, "Accounts".

internal import OMSystem

/// Counts of this process. The counts of accounts are in the store; this only keeps one address from all of them.
package final class AttemptLimit: Sendable {
    private struct Counts {
        var minute: Int64 = 0
        var ofAddresses: [String: Int] = [:]
    }

    /// More addresses than that in one minute are counted together.
    private static let mostAddresses = 100_000
    private let most: Int
    private let counts = Monitor(Counts())

    /// - Parameter most: How many attempts one address, or one account, has a minute.
    package init(most: Int = 60) { self.most = most }

    package func isAllowed(_ address: String, now: Int64) -> Bool {
        let most = most
        return counts.change { counts in
            if counts.minute != now / 60 { counts = Counts(minute: now / 60) }
            let isKnown = counts.ofAddresses[address] != nil
            let key = isKnown || counts.ofAddresses.count < Self.mostAddresses ? address : ""
            let count = counts.ofAddresses[key, default: 0]
            guard count < most else { return false }
            counts.ofAddresses[key] = count + 1
            return true
        }
    }
}
#endif
