// The hash that Windows keeps of a password: MD4 (RFC 1320) of its UTF-16. Lists of breached passwords have it.

internal import COpenSSL
package import OMSecrets

/// For a comparison with such a list only. It protects no password, so the toolkit has no name for it.
package enum NTHash {
    /// The hash of a password of up to 1 MiB.
    ///
    /// - Throws: ``CryptoError/unknownAlgorithm`` if OpenSSL's legacy provider is not installed, or if the password is not
    ///   UTF-8.
    package static func of(_ password: borrowing SecretBytes) throws(CryptoError) -> SecretBytes {
        guard let function = function.pointer, let text = utf16(password) else { throw .unknownAlgorithm }
        var status: Int32 = 0
        let hash = SecretBytes(count: 16) { target in
            status = text.withBytes { text in
                unsafe text.withPointer { bytes, count in
                    unsafe target.withPointer { target, _ in EVP_Digest(bytes, count, target, nil, function, nil) }
                }
            }
        }
        guard status == 1 else { throw .clearing(.unknownAlgorithm) }
        return hash
    }

    /// UTF-16 in little-endian order. Nil for bytes that are not UTF-8.
    private static func utf16(_ password: borrowing SecretBytes) -> SecretBytes? {
        password.withBytes { bytes -> SecretBytes? in
            guard let text = try? UTF8Span(validating: bytes) else { return nil }
            var units = SecretBuffer(capacity: 2 * bytes.count)
            var scalars = text.makeUnicodeScalarIterator()
            while let scalar = scalars.next() {
                for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter {
                    units.append(UInt8(unit & 0xFF))
                    units.append(UInt8(unit >> 8))
                }
            }
            return units.finish()
        }
    }

    /// It does not change after the fetch and lives as long as the process.
    private struct Function: @unchecked Sendable { let pointer: OpaquePointer? }

    private static let function: Function = {
        guard let library = LegacyLibrary.context else { return Function(pointer: nil) }
        let pointer = EVP_MD_fetch(library, "MD4", nil)
        ERR_clear_error()
        return Function(pointer: pointer)
    }()
}
