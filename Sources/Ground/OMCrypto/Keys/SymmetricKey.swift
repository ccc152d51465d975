// Random symmetric keys. Insecure.SDKCipher makes the SDK's keys from passphrases.

public import OMSecrets

/// Makes symmetric keys.
public enum SymmetricKey {
    /// The use of a key, which decides its length. Two more kinds are ``Insecure/desKey`` and ``Insecure/tripleDESKey``.
    public struct Kind: CaseIterable, Hashable, Sendable {
        package enum Use: CaseIterable, Sendable { case aes, insecureTripleDES, insecureDES, hmac }

        package let use: Use

        private init(_ use: Use) { self.use = use }

        public static let allCases: [Kind] = Use.allCases.map { Kind($0) }

        /// 16, 24 or 32 bytes; 32 by default.
        public static var aes: Kind { Kind(.aes) }
        /// 24 bytes, or 16.
        package static var insecureTripleDES: Kind { Kind(.insecureTripleDES) }
        /// 8 bytes.
        package static var insecureDES: Kind { Kind(.insecureDES) }
        /// 16 bytes or more; 32 by default.
        public static var hmac: Kind { Kind(.hmac) }

        /// `aes`, `3des`, `des`, `hmac`.
        public var name: String {
            switch use {
            case .aes: "aes"
            case .insecureTripleDES: "3des"
            case .insecureDES: "des"
            case .hmac: "hmac"
            }
        }

        /// - Throws: ``CryptoError/unknownAlgorithm``.
        public init(named name: String) throws(CryptoError) {
            guard let found = Self.allCases.first(where: { $0.name == name.lowercased() }) else {
                throw .unknownAlgorithm
            }
            self = found
        }

        /// Whether a caller should stop a user who wants to make a key of this kind.
        public var isInsecure: Bool { self == .insecureDES || self == .insecureTripleDES }

        /// The default length of a new key, in bytes.
        public var standardCount: Int {
            switch use {
            case .aes, .hmac: 32
            case .insecureTripleDES: 24
            case .insecureDES: 8
            }
        }

        /// Whether a key may have `count` bytes.
        public func allows(_ count: Int) -> Bool {
            switch use {
            case .aes: [16, 24, 32].contains(count)
            case .insecureTripleDES: [16, 24].contains(count)
            case .insecureDES: count == 8
            case .hmac: (16...1024).contains(count)
            }
        }
    }

    /// A random key. A key of DES or Triple DES has odd parity in every byte, and is neither weak nor half-weak (SP 800-67
    /// section 3.3).
    ///
    /// - Parameter count: Bytes; nil for ``Kind/standardCount``.
    /// - Throws: ``CryptoError/keyLength``.
    public static func generate(_ kind: Kind, count: Int? = nil) throws(CryptoError) -> SecretBytes {
        let count = count ?? kind.standardCount
        guard kind.allows(count) else { throw .keyLength }
        guard kind.isInsecure else { return SecretBytes.random(count) }
        while true {
            let key = withOddParity(SecretBytes.random(count))
            if key.withBytes(isSound) { return key }
        }
    }

    private static func withOddParity(_ key: borrowing SecretBytes) -> SecretBytes {
        key.withBytes { key in
            SecretBytes(count: key.count) { target in
                for index in key.indices {
                    let bits = key[index] & 0xFE
                    target[index] = bits | (bits.nonzeroBitCount % 2 == 0 ? 1 : 0)
                }
            }
        }
    }

    /// Whether no part is a weak key and no two parts are equal, which would make Triple DES a single DES.
    private static func isSound(_ key: Span<UInt8>) -> Bool {
        var parts: [UInt64] = []
        for start in stride(from: 0, to: key.count, by: 8) {
            parts.append((start..<start + 8).reduce(0) { $0 << 8 | UInt64(key[$1]) })
        }
        return Set(parts).count == parts.count && parts.allSatisfy { !weak.contains($0) }
    }

    /// The 4 weak and 12 half-weak keys of DES, with their parity.
    private static let weak: Set<UInt64> = [
        0x0101_0101_0101_0101, 0xFEFE_FEFE_FEFE_FEFE, 0xE0E0_E0E0_F1F1_F1F1, 0x1F1F_1F1F_0E0E_0E0E,
        0x011F_011F_010E_010E, 0x1F01_1F01_0E01_0E01, 0x01E0_01E0_01F1_01F1, 0xE001_E001_F101_F101,
        0x01FE_01FE_01FE_01FE, 0xFE01_FE01_FE01_FE01, 0x1FE0_1FE0_0EF1_0EF1, 0xE01F_E01F_F10E_F10E,
        0x1FFE_1FFE_0EFE_0EFE, 0xFE1F_FE1F_FE0E_FE0E, 0xE0FE_E0FE_F1FE_F1FE, 0xFEE0_FEE0_FEF1_FEF1,
    ]
}
