internal import COpenSSL
internal import OMSecrets

/// The part that `Signer` and `SignatureVerifier` share: the key and the algorithm, set up once in OpenSSL for many messages.
///
/// Not private: a release build inlines its `deinit` into other modules, which then cannot link.
struct SignatureOperation: ~Copyable {
    let kind: KeyKind
    let algorithm: SignatureAlgorithm
    /// The key's operation on digests. For Ed25519, which signs messages, it is on messages.
    private let context: SignatureContext

    init(
        _ key: borrowing KeyHandle, _ kind: KeyKind, _ algorithm: SignatureAlgorithm, isSigning: Bool,
        else error: CryptoError
    ) throws(CryptoError) {
        let context =
            switch algorithm.hash {
            case nil: SignatureContext(ofMessages: key, isSigning: isSigning)
            case let hash?:
                SignatureContext(ofDigests: key, isSigning: isSigning) {
                    hash.isForSignatures && Self.set(algorithm, hash, in: $0, isSigning: isSigning)
                }
            }
        guard context.isReady else { throw .clearing(error) }
        self.context = context
        (self.kind, self.algorithm) = (kind, algorithm)
    }

    private static func set(
        _ algorithm: SignatureAlgorithm, _ hash: DigestAlgorithm, in setup: OpaquePointer, isSigning: Bool
    ) -> Bool {
        guard let function = hash.fetched, EVP_PKEY_CTX_set_signature_md(setup, function) == 1 else { return false }
        switch algorithm {
        case .rsaPSS(_, let mask, let salt):
            return EVP_PKEY_CTX_set_rsa_padding(setup, RSA_PKCS1_PSS_PADDING) == 1
                && EVP_PKEY_CTX_set_rsa_mgf1_md_name(setup, (mask ?? hash).messageDigestName, nil) == 1
                && setSalt(salt, in: setup, isSigning: isSigning)
        case .legacyRSAPKCS1: return EVP_PKEY_CTX_set_rsa_padding(setup, RSA_PKCS1_PADDING) == 1
        case .ecdsa, .ecdsaFixed, .ed25519: return true
        }
    }

    private static func setSalt(_ salt: PSSSaltLength, in setup: OpaquePointer, isSigning: Bool) -> Bool {
        let count: Int32
        switch salt {
        case .ofDigest: count = -1
        case .any: count = isSigning ? -3 : -2
        case .bytes(let bytes):
            guard (0...PublicKey.maximumModulusBits / 8).contains(bytes) else { return false }
            count = Int32(bytes)
        }
        return EVP_PKEY_CTX_set_rsa_pss_saltlen(setup, count) == 1
    }

    /// - Parameter message: The digest; for Ed25519 the whole message.
    borrowing func sign(_ message: Span<UInt8>) throws(CryptoError) -> [UInt8] {
        // An RSA signature is as long as the modulus. An ECDSA signature of the largest curve has at most 139 bytes.
        var count = max((kind.bits + 7) / 8, 160)
        var signature = [UInt8](repeating: 0, count: count)
        let status = unsafe message.withPointer { bytes, length in
            algorithm == .ed25519
                ? EVP_DigestSign(context.messages, &signature, &count, bytes, length)
                : EVP_PKEY_sign(context.digests, &signature, &count, bytes, length)
        }
        guard status == 1 else { throw .clearing(.cannotSign) }
        signature.removeLast(signature.count - count)
        return signature
    }

    /// The signature in the form that OpenSSL reads.
    borrowing func spelled(_ signature: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard !signature.isEmpty else { throw .emptySignature }
        if case .ec(let curve) = kind {
            // Parsed and written again, because one signature must have one form.
            switch algorithm {
            case .ecdsaFixed: return try ECDSASignature(fixed: signature, curve).der
            default: return try ECDSASignature(der: signature, curve).der
            }
        }
        return signature
    }

    borrowing func verify(_ signature: [UInt8], _ message: Span<UInt8>) throws(CryptoError) {
        let status = unsafe message.withPointer { bytes, length in
            algorithm == .ed25519
                ? EVP_DigestVerify(context.messages, signature, signature.count, bytes, length)
                : EVP_PKEY_verify(context.digests, signature, signature.count, bytes, length)
        }
        guard status == 1 else { throw .clearing(.badSignature) }
    }
}

/// One of OpenSSL's two contexts.
/// Not private: a release build inlines its `deinit` into other modules, which then cannot link.
struct SignatureContext: ~Copyable {
    let digests: OpaquePointer?
    let messages: OpaquePointer?
    let isReady: Bool

    init(ofDigests key: borrowing KeyHandle, isSigning: Bool, _ setUp: (OpaquePointer) -> Bool) {
        (digests, messages) = (EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil), nil)
        guard let digests else {
            isReady = false
            return
        }
        let status = isSigning ? EVP_PKEY_sign_init(digests) : EVP_PKEY_verify_init(digests)
        isReady = status == 1 && setUp(digests)
    }

    init(ofMessages key: borrowing KeyHandle, isSigning: Bool) {
        (digests, messages) = (nil, EVP_MD_CTX_new())
        let status =
            isSigning
            ? EVP_DigestSignInit_ex(messages, nil, nil, nil, nil, key.pointer, nil)
            : EVP_DigestVerifyInit_ex(messages, nil, nil, nil, nil, key.pointer, nil)
        isReady = status == 1
    }

    deinit {
        EVP_PKEY_CTX_free(digests)
        EVP_MD_CTX_free(messages)
    }
}

/// The message. It is hashed piece by piece, or kept as a whole if the algorithm asks for that.
/// Not private: a release build inlines its `deinit` into other modules, which then cannot link.
struct SignedMessage: ~Copyable {
    private var digest: Digest?
    private var whole = MessageBuffer()

    init(_ algorithm: SignatureAlgorithm) throws(CryptoError) {
        guard let hash = algorithm.hash else { return }
        digest = try Digest(hash)
    }

    mutating func update(_ piece: Span<UInt8>) throws(CryptoError) {
        guard digest == nil else {
            digest?.update(piece)
            return
        }
        try whole.append(piece)
    }

    /// Calls `body` with the bytes to sign, and starts the next message.
    mutating func finish<R>(_ body: (Span<UInt8>) throws(CryptoError) -> R) throws(CryptoError) -> R {
        guard let bytes = digest?.finish() else {
            defer { whole.removeAll() }
            return try whole.withBytes(body)
        }
        return try body(bytes.span)
    }
}
