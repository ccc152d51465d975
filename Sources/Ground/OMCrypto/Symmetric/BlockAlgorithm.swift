// The block ciphers and their modes by name: FIPS 197 (AES), FIPS 46-3 and SP 800-67 (DES, Triple DES), SP 800-38A
// (modes).

/// A block cipher in a mode of operation. The key's length picks the variant. No such cipher notices a changed ciphertext.
public struct BlockAlgorithm: Hashable, Sendable {
    /// A cipher. Two more are ``Insecure/des`` and ``Insecure/tripleDES``.
    public struct Cipher: CaseIterable, Hashable, Sendable {
        package enum Kind: CaseIterable, Sendable {
            case aes
            /// A key of 8 bytes of which 56 bits count. Blocks of 8.
            case insecureDES
            /// EDE with a key of 24 bytes, or of 16 (K1 K2 K1). Blocks of 8.
            case insecureTripleDES
        }

        package let kind: Kind

        private init(_ kind: Kind) { self.kind = kind }

        public static let allCases: [Cipher] = Kind.allCases.map { Cipher($0) }

        /// Keys of 16, 24 or 32 bytes, blocks of 16.
        public static var aes: Cipher { Cipher(.aes) }
        package static var insecureDES: Cipher { Cipher(.insecureDES) }
        package static var insecureTripleDES: Cipher { Cipher(.insecureTripleDES) }
    }

    /// A mode of operation. A third is ``Insecure/ecb``.
    public struct Mode: CaseIterable, Hashable, Sendable {
        package enum Kind: CaseIterable, Sendable { case cbc, insecureECB, ctr }

        package let kind: Kind

        private init(_ kind: Kind) { self.kind = kind }

        public static let allCases: [Mode] = Kind.allCases.map { Mode($0) }

        public static var cbc: Mode { Mode(.cbc) }
        package static var insecureECB: Mode { Mode(.insecureECB) }
        /// The IV is the first counter block; it counts as one big-endian number.
        public static var ctr: Mode { Mode(.ctr) }
    }

    public let cipher: Cipher
    public let mode: Mode

    public init(_ cipher: Cipher, _ mode: Mode) {
        (self.cipher, self.mode) = (cipher, mode)
    }

    public static let aesCBC = BlockAlgorithm(.aes, .cbc)
    public static let aesCTR = BlockAlgorithm(.aes, .ctr)

    /// The length of the block and of the IV, in bytes.
    public var blockCount: Int { cipher == .aes ? 16 : 8 }

    /// Lengths in bytes that a key may have.
    public var keyCounts: [Int] { cipher.keyCounts }

    public var usesIV: Bool { mode != .insecureECB }

    /// Whether padding has an effect. CTR takes messages of any length without padding.
    public var usesPadding: Bool { mode != .ctr }

    /// Whether a caller should stop a user who wants to make something new with it.
    public var isInsecure: Bool { cipher != .aes || mode == .insecureECB }

    /// `aes-256-cbc` for a key of 32 bytes, `3des-ecb`, `des-cbc`.
    public func name(keyCount: Int) -> String {
        let cipherName = cipher == .aes ? "aes-\(keyCount * 8)" : cipher.sdkName.lowercased()
        return "\(cipherName)-\(mode.name)"
    }

    /// Every algorithm, by the names that say the key's length. `3des-cbc` does not say it, and is listed once for each of two
    /// lengths.
    public static let allNamed: [(name: String, algorithm: BlockAlgorithm)] = Cipher.allCases.flatMap { cipher in
        Mode.allCases.flatMap { mode in
            cipher.keyCounts.map { keyCount in
                let algorithm = BlockAlgorithm(cipher, mode)
                return (algorithm.name(keyCount: keyCount), algorithm)
            }
        }
    }

    /// The algorithm that `name` means, and the key's length if the name says it: `aes-128-cbc`, `AES-CTR`, `3des-ecb`.
    ///
    /// - Throws: ``CryptoError/unknownAlgorithm``.
    public static func named(_ name: String) throws(CryptoError) -> (algorithm: BlockAlgorithm, keyCount: Int?) {
        let wanted = name.lowercased()
        for cipher in Cipher.allCases {
            for mode in Mode.allCases {
                let algorithm = BlockAlgorithm(cipher, mode)
                if wanted == "\(cipher.sdkName.lowercased())-\(mode.name)" { return (algorithm, nil) }
                for keyCount in cipher.keyCounts where wanted == algorithm.name(keyCount: keyCount) {
                    return (algorithm, keyCount)
                }
            }
        }
        throw .unknownAlgorithm
    }
}

extension BlockAlgorithm.Cipher {
    /// The name between the braces of the SDK's strings: `AES`, `DES`, `3DES`.
    public var sdkName: String {
        switch kind {
        case .aes: "AES"
        case .insecureDES: "DES"
        case .insecureTripleDES: "3DES"
        }
    }

    /// Lengths in bytes that a key may have.
    public var keyCounts: [Int] {
        switch kind {
        case .aes: [16, 24, 32]
        case .insecureDES: [8]
        case .insecureTripleDES: [16, 24]
        }
    }
}

extension BlockAlgorithm.Mode {
    /// `cbc`, `ecb`, `ctr`.
    public var name: String {
        switch kind {
        case .cbc: "cbc"
        case .insecureECB: "ecb"
        case .ctr: "ctr"
        }
    }
}

extension BlockAlgorithm {
    /// Nil for a key of another length. CTR with DES or Triple DES is in ``CounterStream``, which needs their bare blocks.
    func openssl(keyCount: Int) -> OpenSSLCipher? {
        guard keyCounts.contains(keyCount) else { return nil }
        return switch (cipher.kind, mode.kind) {
        case (.aes, .cbc): .aes(keyCount, (.aes128CBC, .aes192CBC, .aes256CBC))
        case (.aes, .insecureECB): .aes(keyCount, (.aes128ECB, .aes192ECB, .aes256ECB))
        case (.aes, .ctr): .aes(keyCount, (.aes128CTR, .aes192CTR, .aes256CTR))
        case (.insecureDES, .cbc): .desCBC
        case (.insecureDES, .insecureECB), (.insecureDES, .ctr): .desECB
        case (.insecureTripleDES, .cbc): .tripleDESCBC
        case (.insecureTripleDES, .insecureECB), (.insecureTripleDES, .ctr): .tripleDESECB
        }
    }
}
