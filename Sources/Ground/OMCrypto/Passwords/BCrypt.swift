// bcrypt (Provos and Mazières 1999) in its `$2b$` form, through the system's libcrypt.

internal import CCrypt
internal import Glibc
internal import OMSecrets

/// `$2b$12$` + 22 digits of salt + 31 of hash. crypt(3) makes and checks all of it.
enum BCrypt {
    static let costs = 4...31
    /// The number of bytes that the function uses of a password. The rest would not count, so a longer password is refused.
    static let longestPassword = 72

    /// - Parameter salt: 16 bytes.
    /// - Throws: ``CryptoError/parameterOutOfRange``, ``CryptoError/passwordNotSupported``.
    static func make(_ password: borrowing SecretBytes, cost: Int, salt: [UInt8]) throws(CryptoError) -> String {
        guard costs.contains(cost), salt.count == 16 else { throw .parameterOutOfRange }
        guard password.count <= longestPassword else { throw .passwordNotSupported }
        var setting = [CChar](repeating: 0, count: Int(CRYPT_GENSALT_OUTPUT_SIZE))
        let made = salt.withUnsafeBytes { salt in
            crypt_gensalt_rn(
                "$2b$", UInt(cost), salt.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(salt.count), &setting,
                Int32(setting.count))
        }
        guard made != nil else { throw .parameterOutOfRange }
        let text = String(decoding: setting.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return try crypt(password, setting: text)
    }

    /// The string of this password with the salt and cost of `stored`, which was parsed before.
    ///
    /// Only the first 72 bytes of a longer password count, as in the program that made the string.
    static func recompute(_ password: borrowing SecretBytes, stored: String) throws(CryptoError) -> String {
        try crypt(password, setting: stored)
    }

    private static func crypt(_ password: borrowing SecretBytes, setting: String) throws(CryptoError) -> String {
        // For C the password would end at its first NUL.
        guard password.withBytes({ bytes in !bytes.indices.contains { bytes[$0] == 0 } }) else {
            throw .passwordNotSupported
        }
        var phrase = SecretBuffer(capacity: password.count + 1)
        phrase.append(password)
        phrase.append(0)
        var result: String?
        // crypt(3)'s working memory holds the expanded key, so it is locked and wiped like a secret.
        _ = SecretBytes(count: MemoryLayout<crypt_data>.size) { memory in
            unsafe memory.withPointer { memory, _ in
                let data = UnsafeMutableRawPointer(memory).bindMemory(to: crypt_data.self, capacity: 1)
                phrase.withBytes { phrase in
                    unsafe phrase.withPointer { phrase, _ in
                        let text = UnsafeRawPointer(phrase).assumingMemoryBound(to: CChar.self)
                        result = crypt_r(text, setting, data).map { String(cString: $0) }
                    }
                }
            }
        }
        // A failure is a string too: "*0", or "*1".
        guard let result, result.hasPrefix("$2") else { throw .parameterOutOfRange }
        return result
    }
}
