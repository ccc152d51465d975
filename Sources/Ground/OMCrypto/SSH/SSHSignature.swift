// SSH's signatures: name and bytes in one string (RFC 4253 section 6.6, RFC 5656, RFC 8332, RFC 8709).

internal import OMSecrets

/// Signatures as SSH writes them.
package enum SSHSignature {
    /// The flags of a request that ask for `rsa-sha2-256` and for `rsa-sha2-512`. Without one of them an RSA key would sign SHA-1.
    package static let (sha256, sha512): (UInt32, UInt32) = (2, 4)
    /// The shortest RSA key, in bits, that signs.
    package static let shortestRSA = 2048

    /// The name of the algorithm with which a key of this kind signs.
    ///
    /// Attack: a program asks for the old `ssh-rsa`, whose SHA-1 has collisions. So such a signature is never made.
    ///
    /// - Returns: nil if there is none.
    package static func algorithm(for kind: KeyKind, flags: UInt32) -> String? {
        switch kind {
        case .rsa(let bits) where bits >= shortestRSA:
            flags & sha256 != 0 ? rsa256 : flags & sha512 != 0 ? rsa512 : nil
        case .ec(let curve): ecdsa + curve.sshName
        case .ed25519: ed25519
        case .rsa, .x25519: nil
        }
    }

    /// The same for a public key in SSH's form.
    package static func algorithm(forKey key: [UInt8], flags: UInt32) -> String? {
        guard let kind = try? OpenSSHKey.publicKey(blob: key).kind else { return nil }
        return algorithm(for: kind, flags: flags)
    }

    /// `SHA256:…`, as `ssh-keygen -l` prints it for a public key in SSH's form.
    package static func fingerprint(ofKey key: [UInt8]) -> String? { try? OpenSSHKey.publicKey(blob: key).openSSHFingerprint() }

    /// The key of a host that proves itself with a key or with a certificate, in SSH's form.
    static func hostKey(in bytes: [UInt8]) -> [UInt8] { (try? certifiedKey(bytes)) ?? bytes }

    /// OpenSSH's PROTOCOL.certkeys: after the name and a random string come the strings of the key.
    private static func certifiedKey(_ bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
        var cursor = SSHCursor(bytes.indices, blame: .badSignature)
        let (name, suffix) = (try cursor.text(bytes.span), "-cert-v01@openssh.com")
        guard name.hasSuffix(suffix) else { throw .badSignature }
        let kind = String(name.dropLast(suffix.count))
        _ = try cursor.string(bytes.span)
        let start = cursor.rest.lowerBound
        for _ in 0..<(kind == ed25519 ? 1 : 2) { _ = try cursor.string(bytes.span) }
        var writer = SSHWriter()
        writer.text(kind)
        return writer.bytes() + bytes[start..<cursor.rest.lowerBound]
    }

    private static let (rsa256, rsa512, ecdsa, ed25519) = ("rsa-sha2-256", "rsa-sha2-512", "ecdsa-sha2-", "ssh-ed25519")

    /// The signature of `data`, with the algorithm of ``algorithm(for:flags:)``.
    package static func make(
        _ data: [UInt8], with key: borrowing PrivateKey, _ algorithm: String
    ) throws(CryptoError) -> [UInt8] {
        guard let scheme = scheme(algorithm, of: key.kind) else { throw .wrongKeyType }
        let made = try key.sign(data, scheme)
        var writer = SSHWriter()
        writer.text(algorithm)
        guard case .ecdsaFixed = scheme else {
            writer.string(made.span)
            return writer.bytes()
        }
        let half = made.count / 2
        var numbers = SSHWriter()
        for part in [made[..<half], made[half...]] {
            let number = Array(part.drop { $0 == 0 })
            numbers.mpint(number.span)
        }
        let both = numbers.bytes()
        writer.string(both.span)
        return writer.bytes()
    }

    /// Whether `signature` is that of the key with these bytes over `data`. Not for keys of other kinds, such as those of tokens.
    package static func isRight(_ signature: [UInt8], of data: [UInt8], by key: [UInt8]) -> Bool {
        (try? verify(signature, of: data, by: key)) != nil
    }

    private static func verify(_ signature: [UInt8], of data: [UInt8], by key: [UInt8]) throws(CryptoError) {
        let key = try OpenSSHKey.publicKey(blob: key)
        let bytes = signature.span
        var cursor = SSHCursor(bytes.indices, blame: .badSignature)
        let name = try cursor.text(bytes)
        let value = try cursor.string(bytes)
        try cursor.finish()
        guard let scheme = scheme(name, of: key.kind) else { throw .badSignature }
        guard case .ec(let curve) = key.kind else { return try key.verify(bytes.bytes(value), of: data, scheme) }
        var numbers = SSHCursor(value, blame: .badSignature)
        var fixed: [UInt8] = []
        for _ in 0..<2 {
            let number = try numbers.mpint(bytes)
            guard number.count <= curve.count else { throw .badSignature }
            fixed += [UInt8](repeating: 0, count: curve.count - number.count) + bytes.bytes(number)
        }
        try numbers.finish()
        try key.verify(fixed, of: data, scheme)
    }

    private static func scheme(_ name: String, of kind: KeyKind) -> SignatureAlgorithm? {
        switch (kind, name) {
        case (.rsa, rsa256): .legacyRSAPKCS1(.sha256)
        case (.rsa, rsa512): .legacyRSAPKCS1(.sha512)
        case (.ed25519, ed25519): .ed25519
        case (.ec(let curve), _) where name == ecdsa + curve.sshName: .ecdsaFixed(curve.sshDigest)
        default: nil
        }
    }
}

extension EllipticCurve {
    /// RFC 5656 section 6.2.1.
    fileprivate var sshDigest: DigestAlgorithm {
        switch self {
        case .p256: .sha256
        case .p384: .sha384
        case .p521: .sha512
        }
    }
}

extension SSHWriter {
    /// The bytes, if they are no secret.
    consuming func bytes() -> [UInt8] { finish().withBytes { [UInt8](copying: $0) } }
}
