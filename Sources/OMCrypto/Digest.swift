// One hash computation over OpenSSL's EVP_MD_CTX.

internal import COpenSSL
public import OMSecrets

/// A hash being computed, piece by piece.
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

    /// - Throws: ``CryptoError/unknownAlgorithm`` when this machine's OpenSSL is set up without the algorithm.
    public init(_ algorithm: DigestAlgorithm) throws(CryptoError) {
        guard let function = EVP_MD_fetch(nil, algorithm.opensslName, nil) else { throw .clearing(.unknownAlgorithm) }
        defer { EVP_MD_free(function) }
        let context = DigestContext()
        guard EVP_DigestInit_ex2(context.pointer, function, nil) == 1 else { throw .clearing(.unknownAlgorithm) }
        self.algorithm = algorithm
        self.context = context
    }

    public mutating func update(_ bytes: Span<UInt8>) {
        let status = unsafe bytes.withPointer { EVP_DigestUpdate(context.pointer, $0, $1) }
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

    /// The same for a secret's digest, which never leaves locked memory.
    public mutating func finishSecret() -> SecretBytes {
        SecretBytes(count: algorithm.count) { finish(into: &$0) }
    }

    private mutating func finish(into target: inout MutableSpan<UInt8>) {
        var written: UInt32 = 0
        let status = unsafe target.withPointer { bytes, _ in EVP_DigestFinal_ex(context.pointer, bytes, &written) }
        precondition(status == 1 && Int(written) == algorithm.count, "OpenSSL cannot finish a hash")
        precondition(EVP_DigestInit_ex2(context.pointer, nil, nil) == 1, "OpenSSL cannot start a hash")
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

extension DigestAlgorithm {
    var opensslName: String {
        switch self {
        case .insecureMD5: "MD5"
        case .insecureSHA1: "SHA1"
        case .sha224: "SHA2-224"
        case .sha256: "SHA2-256"
        case .sha384: "SHA2-384"
        case .sha512: "SHA2-512"
        }
    }
}

/// The handle, freed, and so wiped, with its owner.
///
/// Not private: a release build inlines its `deinit` into other modules, which then cannot link.
struct DigestContext: ~Copyable {
    let pointer: OpaquePointer

    init() {
        guard let pointer = EVP_MD_CTX_new() else { fatalError("out of memory for a hash") }
        self.pointer = pointer
    }

    deinit { EVP_MD_CTX_free(pointer) }
}

extension CryptoError {
    /// The error to throw after a call of OpenSSL failed, whose own queue of errors is emptied here: left behind, it
    /// would be read as the next call's.
    static func clearing(_ error: CryptoError) -> CryptoError {
        ERR_clear_error()
        return error
    }
}
