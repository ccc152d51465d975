// The handouts of access tokens on their way into the log of logins. Format: docs/formats/login-format.md, "The log".

internal import OMAuth
internal import OMSystem

/// Writes each first handout before the token leaves, and equal ones of the next minute together.
final class HandoutLog: Sendable {
    typealias Write = @Sendable (LoginReference, TokenHandout, _ times: UInt32) -> Void

    /// How long equal handouts are collected, in seconds.
    static let pause: Int64 = 60
    /// The most kinds of handouts that are collected. More of them are written one by one.
    static let maximum = 256

    private struct Kind: Hashable {
        let login: LoginReference
        let program: String
        let scopes: String
    }

    private struct Collection {
        let until: Int64
        var last: TokenHandout
        var count: UInt32 = 0
    }

    private let collections = Guarded<[Kind: Collection]>([:])
    private let write: Write
    private let clock: @Sendable () -> ClockReading

    init(clock: @escaping @Sendable () -> ClockReading = { ClockReading.now() }, write: @escaping Write) {
        (self.clock, self.write) = (clock, write)
    }

    /// Notes one handout.
    ///
    /// - Returns: Whether it waits, so that ``nextDue`` has a time.
    func note(_ handout: TokenHandout, of login: LoginReference) -> Bool {
        let now = clock().sinceBoot
        let kind = Kind(login: login, program: handout.program, scopes: handout.scopes)
        let times = collections.withLock { collections -> UInt32? in
            if let collection = collections[kind], now < collection.until {
                collections[kind]?.last = handout
                collections[kind]?.count = collection.count + (collection.count < .max ? 1 : 0)
                return nil
            }
            let collected = collections.removeValue(forKey: kind)?.count ?? 0
            if collections.count >= Self.maximum {
                collections = collections.filter { $0.value.count > 0 || now < $0.value.until }
            }
            if collections.count < Self.maximum {
                collections[kind] = Collection(until: now + Self.pause, last: handout)
            }
            return collected + (collected < .max ? 1 : 0)
        }
        guard let times else { return true }
        write(login, handout, times)
        return false
    }

    /// Handouts that are to be written together.
    struct Due: Sendable {
        fileprivate let login: LoginReference
        fileprivate let last: TokenHandout
        fileprivate let count: UInt32
    }

    /// Takes the handouts whose minute is over, for ``write(_:)``.
    ///
    /// - Parameter all: Whether to take all others too.
    func takeDue(all: Bool = false) -> [Due] {
        let now = clock().sinceBoot
        return collections.withLock { collections in
            let due = collections.filter { $0.value.count > 0 && (all || now >= $0.value.until) }
            for kind in due.keys { collections[kind] = nil }
            return due.map { Due(login: $0.key.login, last: $0.value.last, count: $0.value.count) }
        }
    }

    func write(_ due: [Due]) { for each in due { write(each.login, each.last, each.count) } }

    /// When ``takeDue(all:)`` has something to take, in seconds since boot. Nil for never.
    var nextDue: Int64? {
        collections.withLock { $0.values.filter { $0.count > 0 }.map(\.until).min() }
    }
}
