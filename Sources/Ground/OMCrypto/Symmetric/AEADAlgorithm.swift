/// An authenticated cipher: it notices every change.
public enum AEADAlgorithm: CaseIterable, Hashable, Sendable {
    /// Keys of 16, 24 or 32 bytes; a nonce of 12 bytes, or of any other length from 1 if a format asks for it.
    case aesGCM
    /// A key of 32 bytes, a nonce of 12.
    case chacha20Poly1305
    /// A key of 32 bytes, a nonce of 24: random nonces of this length never repeat.
    case xchacha20Poly1305

    /// The length in bytes of the nonces that ``AuthenticatedCipher/seal(_:_:key:associatedData:)`` makes.
    public var nonceCount: Int { self == .xchacha20Poly1305 ? 24 : 12 }

    /// Lengths in bytes that a key may have.
    public var keyCounts: [Int] { self == .aesGCM ? [16, 24, 32] : [32] }

    /// `aes-256-gcm` for a key of 32 bytes, `chacha20-poly1305`, `xchacha20-poly1305`.
    public func name(keyCount: Int) -> String {
        switch self {
        case .aesGCM: "aes-\(keyCount * 8)-gcm"
        case .chacha20Poly1305: "chacha20-poly1305"
        case .xchacha20Poly1305: "xchacha20-poly1305"
        }
    }

    /// Every name that says the key's length.
    public static let allNames: [String] = allCases.flatMap { algorithm in
        algorithm.keyCounts.map(algorithm.name)
    }

    /// The algorithm that `name` means, and the key's length if the name says it.
    ///
    /// - Throws: ``CryptoError/unknownAlgorithm``.
    public static func named(_ name: String) throws(CryptoError) -> (algorithm: AEADAlgorithm, keyCount: Int?) {
        let wanted = name.lowercased()
        if wanted == "aes-gcm" { return (.aesGCM, nil) }
        for algorithm in allCases {
            for keyCount in algorithm.keyCounts where wanted == algorithm.name(keyCount: keyCount) {
                return (algorithm, keyCount)
            }
        }
        throw .unknownAlgorithm
    }
}
