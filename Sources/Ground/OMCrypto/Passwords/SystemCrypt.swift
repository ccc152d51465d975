// The call of crypt(3), the system's libcrypt.

internal import CCrypt
internal import Glibc
internal import OMSecrets

/// Strings of crypt(3). The library reads the method, the work factors and the salt out of a setting, which is the start of a
/// stored string, or a whole one.
enum SystemCrypt {
    /// The longest password that the library takes. It refuses a longer one.
    static let longestPassword = Int(CRYPT_MAX_PASSPHRASE_SIZE) - 1

    /// A setting for a new string.
    ///
    /// - Parameters:
    ///   - prefix: `$2b$`, `$5$`, `$6$` or `$y$`.
    ///   - salt: 16 bytes.
    /// - Throws: ``CryptoError/parameterOutOfRange``.
    static func setting(_ prefix: String, cost: Int, salt: [UInt8]) throws(CryptoError) -> String {
        guard let cost = UInt(exactly: cost), salt.count == 16 else { throw .parameterOutOfRange }
        var setting = [CChar](repeating: 0, count: Int(CRYPT_GENSALT_OUTPUT_SIZE))
        let made = salt.withUnsafeBytes { salt in
            crypt_gensalt_rn(
                prefix, cost, salt.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(salt.count), &setting,
                Int32(setting.count))
        }
        guard made != nil else { throw .parameterOutOfRange }
        return String(decoding: setting.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The string of this password with a setting.
    ///
    /// - Throws: ``CryptoError/passwordNotSupported`` for a password with a NUL, or of more than 511 bytes;
    ///   ``CryptoError/parameterOutOfRange`` for a setting that the library does not take.
    static func string(_ password: borrowing SecretBytes, setting: String) throws(CryptoError) -> String {
        // For C the password would end at its first NUL.
        guard password.count <= longestPassword, password.withBytes({ bytes in !bytes.indices.contains { bytes[$0] == 0 } })
        else { throw .passwordNotSupported }
        var phrase = SecretBuffer(capacity: password.count + 1)
        phrase.append(password)
        phrase.append(0)
        var result: String?
        // The library's working memory holds keys, so it is locked and wiped like a secret. yescrypt has more of its own.
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
        guard let result, result.hasPrefix("$") else { throw .parameterOutOfRange }
        return result
    }
}
