// One hash computation over OpenSSL's EVP_MD_CTX, and over libsodium for the one hash that OpenSSL 3.0 lacks.

internal import COpenSSL
public import OMSecrets

/// A hash that is computed piece by piece.
///
///     var digest = try Digest(.sha256)
///     digest.update(first.span)
///     digest.update(second.span)
///     let bytes = digest.finish()
///
/// After ``finish()`` the same value hashes the next message, without another allocation.
public struct Digest: ~Copyable {
    public let algorithm: DigestAlgorithm
    private let context: DigestContext
    /// Whether OpenSSL must start again before the next message. The start waits until there is one, because it costs as
    /// much as hashing a password.
    private var isFinished = false

    /// - Throws: ``CryptoError/unknownAlgorithm`` if this machine's OpenSSL is set up without the algorithm.
    public init(_ algorithm: DigestAlgorithm) throws(CryptoError) {
        context = try DigestContext(algorithm)
        self.algorithm = algorithm
    }

    public mutating func update(_ bytes: Span<UInt8>) {
        if let blake2b = context.blake2b { return blake2b.update(bytes) }
        startAnew()
        let status = unsafe bytes.withPointer { EVP_DigestUpdate(context.openssl, $0, $1) }
        precondition(status == 1, "OpenSSL cannot hash")
    }

    public mutating func update(_ secret: borrowing SecretBytes) {
        secret.withBytes { update($0) }
    }

    /// The digest of everything since the start or the last `finish`.
    public mutating func finish() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: algorithm.count)
        var target = digest.mutableSpan
        finish(into: &target)
        return digest
    }

    /// The same digest as a secret, which never leaves locked memory.
    public mutating func finishSecret() -> SecretBytes {
        SecretBytes(count: algorithm.count) { finish(into: &$0) }
    }

    /// - Parameter target: As long as the digest.
    mutating func finish(into target: inout MutableSpan<UInt8>) {
        if let blake2b = context.blake2b { return blake2b.finish(into: &target) }
        startAnew()
        var written: UInt32 = 0
        let status = unsafe target.withPointer { bytes, _ in EVP_DigestFinal_ex(context.openssl, bytes, &written) }
        precondition(status == 1 && Int(written) == algorithm.count, "OpenSSL cannot finish a hash")
        isFinished = true
    }

    private mutating func startAnew() {
        guard isFinished else { return }
        precondition(EVP_DigestInit_ex2(context.openssl, nil, nil) == 1, "OpenSSL cannot start a hash")
        isFinished = false
    }
}

extension Digest {
    /// The digest of bytes that are not secret.
    ///
    /// - Throws: ``CryptoError/unknownAlgorithm``.
    public static func of(_ bytes: [UInt8], _ algorithm: DigestAlgorithm) throws(CryptoError) -> [UInt8] {
        var digest = try Digest(algorithm)
        digest.update(bytes.span)
        return digest.finish()
    }

    /// The digest of a secret, itself a secret.
    ///
    /// - Throws: ``CryptoError/unknownAlgorithm``.
    public static func of(
        _ secret: borrowing SecretBytes, _ algorithm: DigestAlgorithm
    ) throws(CryptoError) -> SecretBytes {
        var digest = try Digest(algorithm)
        digest.update(secret)
        return digest.finishSecret()
    }
}

/// The handle of OpenSSL or libsodium. Its owner frees it, which wipes it.
///
/// Not private: a release build inlines its `deinit` into other modules, which then cannot link.
struct DigestContext: ~Copyable {
    let openssl: OpaquePointer?
    let blake2b: BLAKE2b?

    init(_ algorithm: DigestAlgorithm) throws(CryptoError) {
        guard algorithm.opensslName != nil else {
            (openssl, blake2b) = (nil, BLAKE2b(count: algorithm.count))
            return
        }
        guard let function = algorithm.fetched else { throw .unknownAlgorithm }
        guard let pointer = EVP_MD_CTX_new() else { fatalError("out of memory for a hash") }
        guard EVP_DigestInit_ex2(pointer, function, nil) == 1 else {
            EVP_MD_CTX_free(pointer)
            throw .clearing(.unknownAlgorithm)
        }
        (openssl, blake2b) = (pointer, nil)
    }

    deinit { EVP_MD_CTX_free(openssl) }
}

extension DigestAlgorithm {
    /// OpenSSL's function. Nil if OpenSSL does not offer it.
    var fetched: OpaquePointer? { FetchedDigests.all.functions[index] }
}

/// OpenSSL's functions, fetched once, because a fetch takes longer than hashing a password. They never change and live as long
/// as the process, so every thread may use them.
private struct FetchedDigests: @unchecked Sendable {
    static let all = FetchedDigests()

    let functions: [OpaquePointer?] = {
        let functions = DigestAlgorithm.allCases.map { $0.opensslName.flatMap { EVP_MD_fetch(nil, $0, nil) } }
        ERR_clear_error()
        return functions
    }()
}

extension CryptoError {
    /// The error to throw after a call of OpenSSL failed. This empties OpenSSL's queue of errors; otherwise they would look
    /// like errors of the next call.
    static func clearing(_ error: CryptoError) -> CryptoError {
        ERR_clear_error()
        return error
    }
}
