// bcrypt (Provos and Mazières 1999) in its `$2b$` form, through the system's libcrypt.

internal import OMSecrets

/// `$2b$12$` + 22 digits of salt + 31 of hash. crypt(3) makes and checks all of it.
enum BCrypt {
    static let costs = 4...31
    /// The number of bytes that the function uses of a password. The rest would not count, so a longer password is refused.
    static let longestPassword = 72

    /// - Parameter salt: 16 bytes.
    /// - Throws: ``CryptoError/parameterOutOfRange``, ``CryptoError/passwordNotSupported``.
    static func make(_ password: borrowing SecretBytes, cost: Int, salt: [UInt8]) throws(CryptoError) -> String {
        guard costs.contains(cost) else { throw .parameterOutOfRange }
        guard password.count <= longestPassword else { throw .passwordNotSupported }
        return try SystemCrypt.string(password, setting: SystemCrypt.setting("$2b$", cost: cost, salt: salt))
    }

    /// The cost of a `$2b$12$…` string. Nil for another kind of string.
    ///
    /// - Throws: ``CryptoError/malformedHash``.
    static func cost(of text: String) throws(CryptoError) -> Int? {
        let bytes = Array(text.utf8)
        guard bytes.starts(with: "$2".utf8) else { return nil }
        guard bytes.count == 60, "aby".utf8.contains(bytes[2]), bytes[3] == UInt8(ascii: "$"),
            bytes[6] == UInt8(ascii: "$"), bytes[7...].allSatisfy({ CryptDigit.value($0) != nil }),
            let cost = Int(String(decoding: bytes[4..<6], as: UTF8.self)), costs.contains(cost),
            bytes[4..<6].allSatisfy({ (0x30...0x39).contains($0) })
        else { throw .malformedHash }
        return cost
    }
}
