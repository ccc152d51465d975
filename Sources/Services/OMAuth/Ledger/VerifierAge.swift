// How old a cached credential is, by clocks that a user can set. docs/formats/login-format.md, "Time".

/// When a credential was last known to be good, and how long that counts.
struct VerifierAge: Hashable, Sendable {
    /// The last online success, or the enrolment.
    let since: Int64
    /// Seconds. Nil if it never expires.
    let maximum: Int64?

    /// The last second in which the credential is valid. Nil if it does not expire.
    var expires: Int64? { maximum.map { since + $0 } }

    func isExpired(at now: Int64) -> Bool {
        expires.map { now > $0 } ?? false
    }
}
