// The writer of key files. The unencrypted forms have the longer names, because every reader of such a file has the key.

public import OMSecrets

extension PrivateKey {
    /// Encrypted PKCS#8 in DER: PBES2 with PBKDF2-HMAC-SHA-256, 600,000 rounds, and AES-256-CBC.
    ///
    /// - Throws: ``CryptoError/invalidKey`` if OpenSSL fails, for example without memory.
    public func encryptedPKCS8(password: borrowing SecretBytes) throws(CryptoError) -> SecretBytes {
        let encryption = KeyEncryption.new()
        let sealed = try encryption.seal(unencryptedPKCS8(), password: password)
        var writer = DERWriter()
        writer.sequence { info in
            encryption.write(&info)
            sealed.withBytes { info.octets($0) }
        }
        return writer.finish()
    }

    /// PKCS#8 in DER (RFC 5958, version 0). It is not encrypted, so every reader of the bytes has the key.
    public func unencryptedPKCS8() throws(CryptoError) -> SecretBytes {
        let inner: SecretBytes =
            switch kind {
            case .rsa: try unencryptedPKCS1()
            case .ec: try sec1(isNamingCurve: false)
            case .ed25519, .x25519: try octets()
            }
        var writer = DERWriter()
        writer.sequence { info in
            info.integer(0)
            info.algorithm(of: kind)
            inner.withBytes { info.octets($0) }
        }
        return writer.finish()
    }

    /// `RSAPrivateKey` in DER (RFC 8017 appendix A.1.2).
    ///
    /// - Throws: ``CryptoError/wrongKeyType`` unless the key is RSA.
    public func unencryptedPKCS1() throws(CryptoError) -> SecretBytes {
        let numbers = try rsaNumbers()
        var writer = DERWriter()
        writer.sequence { key in
            key.integer(0)
            numbers.values.withBytes { values in
                for range in numbers.ranges { key.integer(values.extracting(range)) }
            }
        }
        return writer.finish()
    }

    /// `ECPrivateKey` in DER (RFC 5915), with its curve and its public half.
    ///
    /// - Throws: ``CryptoError/wrongKeyType`` unless the key is of an elliptic curve.
    public func unencryptedSEC1() throws(CryptoError) -> SecretBytes { try sec1(isNamingCurve: true) }

    private func sec1(isNamingCurve: Bool) throws(CryptoError) -> SecretBytes {
        guard case .ec(let curve) = kind else { throw .wrongKeyType }
        let scalar = try rawBytes()
        let point = try publicKey().point()
        var writer = DERWriter()
        writer.sequence { key in
            key.integer(1)
            scalar.withBytes { key.octets($0) }
            if isNamingCurve {
                key.constructed(DERTag.context(0)) { $0.objectIdentifier(curve.objectIdentifier) }
            }
            key.constructed(DERTag.context(1)) { $0.bits(point.span) }
        }
        return writer.finish()
    }

    private func octets() throws(CryptoError) -> SecretBytes {
        let raw = try rawBytes()
        var writer = DERWriter()
        raw.withBytes { writer.octets($0) }
        return writer.finish()
    }
}
