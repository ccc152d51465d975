/// The algorithm that seals a container's chunks.
public enum FileAlgorithm: UInt8, CaseIterable, Hashable, Sendable {
    case aes256GCM = 1
    case chacha20Poly1305 = 2

    /// `aes-256-gcm`, `chacha20-poly1305`.
    public var name: String { self == .aes256GCM ? "aes-256-gcm" : "chacha20-poly1305" }

    /// - Throws: ``CryptoError/unknownAlgorithm``.
    public init(named name: String) throws(CryptoError) {
        guard let found = Self.allCases.first(where: { $0.name == name.lowercased() }) else { throw .unknownAlgorithm }
        self = found
    }

    var openssl: OpenSSLCipher { self == .aes256GCM ? .aes256GCM : .chacha20Poly1305 }
}
