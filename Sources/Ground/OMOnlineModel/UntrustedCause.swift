public enum UntrustedCause: UInt8, CaseIterable, Sendable {
    /// The certificate has expired, or no trusted authority issued it.
    case certificate = 1
    /// The certificate is good, but belongs to another server.
    case name = 2
    /// There is no common TLS version or cipher, or no TLS at all.
    case handshake = 3
}
