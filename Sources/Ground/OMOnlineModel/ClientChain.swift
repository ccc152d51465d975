/// The certificate that a client shows in TLS, with those of its authorities. The private key stays elsewhere, and signs each
/// handshake there.
public struct ClientChain: Hashable, Sendable {
    /// The most certificates of a chain.
    public static let longest = 10
    /// The most bytes of a certificate.
    public static let largest = 64 << 10

    /// The name of the identity in the user's vault, whose key signs.
    public let identity: String
    /// In DER. The client's own is the first one.
    public let certificates: [[UInt8]]
    /// `ClientCertificateTLS12`: whether it is shown in TLS 1.2 too.
    public let allowsTLS12: Bool

    /// Nil for no certificate, for too many of them, or for one that is too large.
    public init?(_ certificates: [[UInt8]], of identity: String, allowsTLS12: Bool = false) {
        guard (1...Self.longest).contains(certificates.count),
            certificates.allSatisfy({ (1...Self.largest).contains($0.count) })
        else { return nil }
        (self.certificates, self.identity, self.allowsTLS12) = (certificates, identity, allowsTLS12)
    }
}
