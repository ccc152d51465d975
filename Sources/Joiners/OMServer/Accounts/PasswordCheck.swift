#if Server
// Whether a password is that of an account. docs/formats/server-protocol.md, "Accounts".

package import OMCrypto
package import OMSecrets
package import OMServerStore

/// Checks and makes password hashes, with a bound on how many are computed at once. One for the whole process.
package final class PasswordCheck: Sendable {
    package enum Answer: Hashable, Sendable {
        /// `hash` is the account's hash that the password was compared with.
        case right(hash: String)
        /// Also for an unknown account.
        case wrong
        /// The password is right, and the account is blocked.
        case blocked
        /// Too many wrong ones: the password was not looked at.
        case tooMany(retryAfter: Int)
    }

    package static let passwordCounts = 8...1024
    /// Wrong passwords that cost no wait, and the longest wait in seconds.
    static let freeFailures: Int64 = 5
    static let longestWait: Int64 = 900

    private let function: PasswordFunction
    private let turns: Turns
    /// A hash that no password has, so that an unknown name costs the time of a known one.
    private let foreign: String

    /// - Parameters:
    ///   - function: Tests have a faster one.
    ///   - parallel: How many hashes are computed at once.
    ///   - waiting: How many threads may wait for that.
    package init(_ function: PasswordFunction = .standard(.argon2id), parallel: Int, waiting: Int) throws {
        self.function = function
        turns = Turns(most: parallel, waiting: waiting)
        foreign = try PasswordHash.make(SecretBytes(copying: Random.bytes(32).span), function).text
    }

    /// The hash for a new password.
    package func hash(_ password: borrowing Password) throws -> String { try hash(password.bytes) }

    /// The hash for the answer to a user's question.
    ///
    /// - Returns: nil for an answer of blanks only: anyone can give it.
    package func hash(answer: borrowing SecretBytes) throws -> String? {
        let plain = QuestionCheck.plain(answer)
        return plain.count == 0 ? nil : try hash(plain)
    }

    private func hash(_ secret: borrowing SecretBytes) throws -> String {
        try turns.run { try PasswordHash.make(secret, function).text }
    }

    /// Counts the attempt, then compares the password.
    ///
    /// Attack: many requests at once, or one that is cut off, would be free guesses. So the count is committed before the
    /// comparison, and a right password takes it back. The turn comes first: an attempt that gets none costs nothing.
    package func check(
        _ name: AccountName, _ password: borrowing Password, in store: any ServerStore, now: Int64
    ) throws -> Answer {
        try turns.run {
            switch try Self.charge(name, in: store, now: now) {
            case .early(let seconds): return .tooMany(retryAfter: seconds)
            case .unknown:
                _ = try PasswordHash(parsing: foreign).matches(password.bytes)
                return .wrong
            case .account(let account):
                guard try PasswordHash(parsing: account.hash).matches(password.bytes) else { return .wrong }
                let isBlocked = try store.transaction(.write) { transaction -> Bool? in
                    // The administrator may have changed the account while the hash was computed.
                    guard let present = try AccountTable.find(name, locked: true, transaction), present.hash == account.hash
                    else { return nil }
                    try AccountTable.noteFailures(0, at: 0, of: name, transaction)
                    return present.isBlocked
                }
                guard let isBlocked else { return .wrong }
                return isBlocked ? .blocked : .right(hash: account.hash)
            }
        }
    }

    private static func charge(_ name: AccountName, in store: any ServerStore, now: Int64) throws -> Charged {
        try store.transaction(.write) { transaction in
            guard let account = try AccountTable.find(name, locked: true, transaction) else {
                let (failures, failed) = try StrangerTable.locked(name, transaction)
                let count = counted(failures, failed, now)
                if let left = left(of: count, failed, now) { return .early(left) }
                try StrangerTable.noteFailures(count + 1, at: now, of: name, transaction)
                return .unknown
            }
            let count = counted(account.failures, account.failed, now)
            if let left = left(of: count, account.failed, now) { return .early(left) }
            try AccountTable.noteFailures(count + 1, at: now, of: name, transaction)
            return .account(account)
        }
    }

    /// Wrong passwords count for a day behind the last one. The same for names that no account has: their rows are shared, so
    /// they could not count for ever.
    private static func counted(_ failures: Int64, _ failed: Int64, _ now: Int64) -> Int64 {
        now - failed < 86_400 ? failures : 0
    }

    /// Runs `body` while all turns are taken, for tests.
    package func whileBusy<R>(_ body: () throws -> R) throws -> R { try turns.run(body) }

    private enum Charged: Sendable {
        case account(ServerAccount)
        case unknown
        case early(Int)
    }

    /// The seconds until the next attempt. Nil if none are left.
    static func left(of failures: Int64, _ failed: Int64, _ now: Int64) -> Int? {
        let wait = wait(behind: failures)
        // A clock that was put back must not lock the account for long.
        let left = min(wait, failed + wait - now)
        return left > 0 ? Int(left) : nil
    }

    /// The seconds from the last wrong password to the next attempt.
    static func wait(behind failures: Int64) -> Int64 {
        guard failures >= freeFailures else { return 0 }
        return min(longestWait, 2 << min(20, failures - freeFailures))
    }

    func isRight(_ secret: borrowing SecretBytes, _ hash: String) throws -> Bool {
        try turns.run { try PasswordHash(parsing: hash).matches(secret) }
    }
}
#endif
