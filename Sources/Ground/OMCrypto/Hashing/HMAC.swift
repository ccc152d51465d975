// HMAC (RFC 2104, FIPS 198-1) with any hash function, over OpenSSL's EVP_MAC.

internal import COpenSSL
public import OMSecrets

/// An HMAC that is computed piece by piece.
///
///     var mac = try HMAC(.sha256, key: key)
///     mac.update(message.span)
///     let tag = mac.finish()
///
/// Compare a tag with ``isTag(_:of:_:key:)``, never with `==`. After ``finish()`` the same value computes the next
/// message's tag under the same key.
public struct HMAC: ~Copyable {
    public let algorithm: DigestAlgorithm
    private let context: MACContext

    /// - Parameter key: Any number of bytes, also none. A key longer than the hash's block counts as its digest.
    /// - Throws: ``CryptoError/unknownAlgorithm`` if this machine's OpenSSL is set up without the algorithm.
    public init(_ algorithm: DigestAlgorithm, key: borrowing SecretBytes) throws(CryptoError) {
        context = try MACContext(algorithm, key)
        self.algorithm = algorithm
    }

    public mutating func update(_ bytes: Span<UInt8>) {
        if let paired = context.paired { return paired.inner.update(bytes) }
        let status = unsafe bytes.withPointer { EVP_MAC_update(context.openssl, $0, $1) }
        precondition(status == 1, "OpenSSL cannot compute a MAC")
    }

    public mutating func update(_ secret: borrowing SecretBytes) {
        secret.withBytes { update($0) }
    }

    /// The tag of everything since the start or the last `finish`, as long as the digest.
    public mutating func finish() -> SecretBytes {
        if let paired = context.paired { return paired.finish() }
        var written = 0
        let tag = SecretBytes(count: algorithm.count) { target in
            let status = unsafe target.withPointer { EVP_MAC_final(context.openssl, $0, &written, $1) }
            precondition(status == 1, "OpenSSL cannot finish a MAC")
        }
        precondition(written == algorithm.count, "OpenSSL gave another tag length")
        precondition(EVP_MAC_init(context.openssl, nil, 0, nil) == 1, "OpenSSL cannot start a MAC")
        return tag
    }
}

extension HMAC {
    /// The tag of a whole message.
    ///
    /// - Throws: ``CryptoError/unknownAlgorithm``.
    public static func tag(
        of message: Span<UInt8>, _ algorithm: DigestAlgorithm, key: borrowing SecretBytes
    ) throws(CryptoError) -> SecretBytes {
        var mac = try HMAC(algorithm, key: key)
        mac.update(message)
        return mac.finish()
    }

    /// Whether `tag` is the message's, in constant time.
    ///
    /// - Parameter tag: The whole tag, or its first bytes if a protocol cuts it: at least half the digest, and at least
    ///   10 bytes (RFC 2104 section 5). The answer is false for any other length.
    /// - Throws: ``CryptoError/unknownAlgorithm``.
    public static func isTag(
        _ tag: Span<UInt8>, of message: Span<UInt8>, _ algorithm: DigestAlgorithm, key: borrowing SecretBytes
    ) throws(CryptoError) -> Bool {
        let whole = try self.tag(of: message, algorithm, key: key)
        guard (max(10, algorithm.count / 2)...algorithm.count).contains(tag.count) else { return false }
        return whole.withBytes { ConstantTime.areEqual($0.extracting(0..<tag.count), tag) }
    }
}

/// The handle. Its owner frees it, which wipes it.
///
/// Not private: a release build inlines its `deinit` into other modules, which then cannot link.
struct MACContext: ~Copyable {
    let openssl: OpaquePointer?
    let paired: HMACOverDigests?

    init(_ algorithm: DigestAlgorithm, _ key: borrowing SecretBytes) throws(CryptoError) {
        guard let name = algorithm.opensslName else {
            (openssl, paired) = (nil, try HMACOverDigests(algorithm, key))
            return
        }
        guard let function = FetchedMAC.hmac.function else { throw .unknownAlgorithm }
        guard let pointer = EVP_MAC_CTX_new(function) else { fatalError("out of memory for a MAC") }
        var parameters = OpenSSLParameters()
        parameters.add(OSSL_MAC_PARAM_DIGEST, name)
        let status = parameters.withPointer { parameters in
            key.withBytes { key in
                unsafe key.withPointer { EVP_MAC_init(pointer, $0, $1, parameters) }
            }
        }
        guard status == 1 else {
            EVP_MAC_CTX_free(pointer)
            throw .clearing(.unknownAlgorithm)
        }
        (openssl, paired) = (pointer, nil)
    }

    deinit { EVP_MAC_CTX_free(openssl) }
}

/// Fetched once, never changed, never freed.
private struct FetchedMAC: @unchecked Sendable {
    static let hmac = FetchedMAC()
    let function = EVP_MAC_fetch(nil, "HMAC", nil)
}

/// RFC 2104 by hand, for the hash that OpenSSL's HMAC cannot use: H(key ⊕ opad ‖ H(key ⊕ ipad ‖ message)).
final class HMACOverDigests {
    var inner: Digest
    private var outer: Digest
    private let innerPad: SecretBytes
    private let outerPad: SecretBytes

    init(_ algorithm: DigestAlgorithm, _ key: borrowing SecretBytes) throws(CryptoError) {
        let block = algorithm.blockCount
        let short = key.count > block ? try Digest.of(key, algorithm) : key.duplicate()
        func pad(_ mask: UInt8) -> SecretBytes {
            short.withBytes { key in
                SecretBytes(count: block) { pad in
                    for index in 0..<block { pad[index] = (index < key.count ? key[index] : 0) ^ mask }
                }
            }
        }
        innerPad = pad(0x36)
        outerPad = pad(0x5C)
        inner = try Digest(algorithm)
        outer = try Digest(algorithm)
        inner.update(innerPad)
    }

    func finish() -> SecretBytes {
        outer.update(outerPad)
        outer.update(inner.finishSecret())
        inner.update(innerPad)
        return outer.finishSecret()
    }
}
