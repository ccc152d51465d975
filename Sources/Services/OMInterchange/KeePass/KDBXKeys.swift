// The keys of a KDBX file, from what the user has.

internal import OMCrypto
internal import OMSecrets

/// The keys of one file.
struct KDBXKeys: ~Copyable {
    /// Of the cipher.
    let cipher: SecretBytes
    /// From which KDBX 4 has the keys of its check values. 64 bytes.
    private let checks: SecretBytes

    init(
        _ key: borrowing ForeignKey, seed: [UInt8], _ derivation: KDBXDerivation, _ limits: KeePassLimits
    ) throws(InterchangeError) {
        let stretched = try derivation.key(from: Self.composite(key), limits)
        let cipher = try Self.digest(.sha256) { digest in
            digest.update(seed.span)
            digest.update(stretched)
        }
        let checks = try Self.digest(.sha512) { digest in
            digest.update(seed.span)
            digest.update(stretched)
            digest.update([1].span)
        }
        self.cipher = cipher
        self.checks = checks
    }

    /// The SHA-256 of what each part of the key has: the password's SHA-256, then the key file's key.
    private static func composite(_ key: borrowing ForeignKey) throws(InterchangeError) -> SecretBytes {
        var parts = SecretBuffer(capacity: 64)
        var count = 0
        switch key.password {
        case .some(let password):
            parts.append(try digest(.sha256) { $0.update(password) })
            count += 1
        case .none: break
        }
        switch key.keyFile {
        case .some(let file):
            parts.append(try KeePassKeyFile.key(file))
            count += 1
        case .none: break
        }
        guard count > 0 else { throw .needsPassword }
        let whole = parts.finish()
        return try digest(.sha256) { $0.update(whole) }
    }

    /// The check value of a block of KDBX 4.
    borrowing func tag(ofBlock index: UInt64, _ content: Span<UInt8>) throws(InterchangeError) -> SecretBytes {
        try tag(index) { mac in
            mac.update(index.littleEndianBytes.span)
            mac.update(UInt32(content.count).littleEndianBytes.span)
            mac.update(content)
        }
    }

    /// The check value of the header of KDBX 4.
    borrowing func tag(ofHeader header: Span<UInt8>) throws(InterchangeError) -> SecretBytes {
        try tag(.max) { $0.update(header) }
    }

    private borrowing func tag(_ index: UInt64, _ update: (inout HMAC) -> Void) throws(InterchangeError) -> SecretBytes {
        let key = try Self.digest(.sha512) { digest in
            digest.update(index.littleEndianBytes.span)
            digest.update(checks)
        }
        do throws(CryptoError) {
            var mac = try HMAC(.sha256, key: key)
            update(&mac)
            return mac.finish()
        } catch {
            throw .noDigest
        }
    }

    private static func digest(
        _ algorithm: DigestAlgorithm, _ update: (inout Digest) throws(InterchangeError) -> Void
    ) throws(InterchangeError) -> SecretBytes {
        guard var digest = try? Digest(algorithm) else { throw .noDigest }
        try update(&digest)
        return digest.finishSecret()
    }
}

extension InterchangeError {
    /// Without SHA-256, SHA-512 and HMAC there is no KDBX.
    static var noDigest: InterchangeError {
        .unsupported("SHA-2 on this machine", remedy: "enable it in the settings of OpenSSL")
    }
}
