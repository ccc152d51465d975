// AES Key Wrap (RFC 3394, SP 800-38F KW) and with padding (RFC 5649, SP 800-38F KWP), over OpenSSL.
//
// Both are deterministic: the same key wrapped twice gives the same bytes. That is intended, because a key is random already.

internal import COpenSSL
public import OMSecrets

/// Wraps keys under a key.
///
///     let wrapped = try AESKeyWrap.kwp.wrap(key, under: wrappingKey)
public enum AESKeyWrap: CaseIterable, Hashable, Sendable {
    /// Whole half-blocks: 16 bytes or more, a multiple of 8. The result is 8 bytes longer.
    case kw
    /// Any length from 1 byte to 1 GiB. The result is a multiple of 8, 8 to 15 bytes longer.
    case kwp

    /// `aes-kw`, `aes-kwp`.
    public var name: String { self == .kw ? "aes-kw" : "aes-kwp" }

    /// - Throws: ``CryptoError/unknownAlgorithm``.
    public init(named name: String) throws(CryptoError) {
        guard let found = Self.allCases.first(where: { $0.name == name.lowercased() }) else { throw .unknownAlgorithm }
        self = found
    }

    /// - Parameter wrappingKey: 16, 24 or 32 bytes.
    /// - Throws: ``CryptoError/keyLength`` for the wrapping key, ``CryptoError/wrapLength`` for what is wrapped.
    public func wrap(_ key: borrowing SecretBytes, under wrappingKey: borrowing SecretBytes) throws(CryptoError)
        -> [UInt8]
    {
        let context = try started(.encrypt, wrappingKey)
        let isLengthRight = self == .kw ? key.count >= 16 && key.count % 8 == 0 : key.count >= 1
        guard isLengthRight, key.count <= CipherContext.longestPiece else { throw .wrapLength }
        var wrapped = [UInt8](repeating: 0, count: key.count + 24)
        let written = key.withBytes { key in key.withPointer { context.update($0, $1, into: &wrapped) } }
        guard let written else { throw .clearing(.wrapLength) }
        wrapped.removeLast(wrapped.count - written)
        return wrapped
    }

    /// - Throws: ``CryptoError/keyLength`` for the wrapping key; ``CryptoError/cannotDecrypt`` for another key, changed
    ///   bytes, or a length that no wrapped key has.
    public func unwrap(
        _ wrapped: [UInt8], under wrappingKey: borrowing SecretBytes
    ) throws(CryptoError) -> SecretBytes {
        let context = try started(.decrypt, wrappingKey)
        guard wrapped.count % 8 == 0, wrapped.count >= (self == .kw ? 24 : 16),
            wrapped.count <= CipherContext.longestPiece
        else { throw .cannotDecrypt }
        var key = SecretBuffer(capacity: wrapped.count + 16)
        try key.append(upTo: wrapped.count + 16) { (target) throws(CryptoError) in
            let written = target.withPointer { target, _ in context.update(wrapped, wrapped.count, into: target) }
            guard let written, written > 0 else { throw .clearing(.cannotDecrypt) }
            return written
        }
        return key.finish()
    }

    private func started(
        _ direction: CipherContext.Direction, _ key: borrowing SecretBytes
    ) throws(CryptoError) -> CipherContext {
        let cipher: OpenSSLCipher? =
            self == .kw
            ? .aes(key.count, (.aes128KW, .aes192KW, .aes256KW))
            : .aes(key.count, (.aes128KWP, .aes192KWP, .aes256KWP))
        guard let cipher else { throw .keyLength }
        let context = try CipherContext(cipher, direction)
        try key.withBytes { (key) throws(CryptoError) in try context.start(key: key, iv: nil) }
        return context
    }
}
