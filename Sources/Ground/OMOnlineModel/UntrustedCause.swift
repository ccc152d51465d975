public enum UntrustedCause: UInt8, CaseIterable, Sendable {
    /// Expired, or of nobody who is trusted.
    case certificate = 1
    /// A good certificate, of another server.
    case name = 2
    /// No common version or cipher, or no TLS at all.
    case handshake = 3
}
