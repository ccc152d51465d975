/// What a server did with a client certificate: one connection without it, and one with it.
public struct CertificateTrial: Hashable, Sendable {
    /// Whether the server asks a client for a certificate.
    public enum Asking: UInt8, CaseIterable, Sendable {
        case never = 0
        /// It takes clients without one too.
        case optional = 1
        /// It refuses a client without one.
        case demanded = 2
    }

    /// What the server did.
    public enum Outcome: Hashable, Sendable {
        /// It ended the connection with an alert about the certificate.
        case alert
        /// It answered with this status.
        case status(UInt16)
    }

    public let asking: Asking
    public let without: Outcome
    public let with: Outcome
    /// Whether it takes the certificate. It does not count where the server never asks.
    public let isAccepted: Bool
    /// Whether the connection with the certificate was TLS 1.3. Otherwise it was TLS 1.2.
    public let isTLS13: Bool

    public init(_ asking: Asking, without: Outcome, with: Outcome, isAccepted: Bool, isTLS13: Bool) {
        (self.asking, self.without, self.with) = (asking, without, with)
        (self.isAccepted, self.isTLS13) = (isAccepted, isTLS13)
    }
}
