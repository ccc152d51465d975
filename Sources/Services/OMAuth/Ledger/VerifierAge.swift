// How old a cached credential is, by clocks that a user can set. docs/login-format.md, "Time".

/// When a credential was last known to be good, and for how long that holds.
struct VerifierAge: Hashable, Sendable {
    /// The last online success, or the enrolment.
    let since: Int64
    /// Seconds; nil: it never expires.
    let maximum: Int64?

    /// The last second in which it is good; nil: always.
    var expires: Int64? { maximum.map { since + $0 } }

    func isExpired(at now: Int64) -> Bool {
        expires.map { now > $0 } ?? false
    }
}
