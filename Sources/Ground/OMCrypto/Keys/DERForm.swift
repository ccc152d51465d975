// The plain forms of keys in DER: PKCS#8, PKCS#1, SEC1, SPKI.

internal import OMSecrets

enum DERForm {
    /// The form of the bytes, by their first elements. Nil unless all the bytes together are DER of a key.
    static func detect(_ bytes: Span<UInt8>) -> KeyFormat? {
        var top = DERCursor(0..<bytes.count, blame: .unknownKeyFormat)
        guard var inside = try? top.enter(DERTag.sequence, bytes), top.isAtEnd else { return nil }
        if inside.tag(bytes) == DERTag.sequence {
            guard (try? inside.any(bytes)) != nil else { return nil }
            return inside.tag(bytes) == DERTag.octetString ? .encryptedPKCS8 : .spki
        }
        guard let number = try? inside.unsigned(bytes) else { return nil }
        switch inside.tag(bytes) {
        case DERTag.octetString: return .sec1
        case DERTag.integer: return .pkcs1
        case DERTag.sequence: return bytes.bytes(number) == [3] ? .pkcs12 : .pkcs8
        default: return nil
        }
    }

    /// Whether the key is private: PKCS#1 has nine numbers for a private key, and two for a public one.
    static func isPrivate(_ bytes: Span<UInt8>, _ format: KeyFormat) -> Bool {
        var top = DERCursor(0..<bytes.count, blame: .malformedKey(format))
        guard var numbers = try? top.enter(DERTag.sequence, bytes) else { return false }
        return (0..<3).allSatisfy { _ in (try? numbers.unsigned(bytes)) != nil }
    }

    static func privateKey(_ bytes: Span<UInt8>, _ format: KeyFormat) throws(CryptoError) -> PrivateKey {
        var top = DERCursor(0..<bytes.count, blame: .malformedKey(format))
        switch format {
        case .pkcs8:
            let key = try pkcs8(&top, bytes)
            try top.finish()
            return key
        case .pkcs1:
            guard isPrivate(bytes, .pkcs1) else { throw .noPrivateKey }
            let key = try pkcs1(&top, bytes)
            try top.finish()
            return key
        case .sec1:
            let key = try sec1(&top, bytes, nil)
            try top.finish()
            return key
        case .jwk: return try JWKReader(bytes).privateKey(bytes)
        case .openSSHPrivate: return try OpenSSHKey.privateKey(bytes)
        case .ageIdentity: return try AgeText.onlyPrivateKey(bytes)
        case .spki, .openSSHPublic, .ageRecipient: throw .noPrivateKey
        case .pem, .encryptedPKCS8, .encryptedPEM, .pkcs12, .encryptedAgeIdentity: throw .unsupportedKey(format)
        }
    }

    static func publicKey(_ bytes: Span<UInt8>, _ format: KeyFormat) throws(CryptoError) -> PublicKey {
        switch format {
        case .spki:
            var top = DERCursor(0..<bytes.count, blame: .malformedKey(.spki))
            let key = try spki(&top, bytes)
            try top.finish()
            return key
        case .pkcs1:
            var top = DERCursor(0..<bytes.count, blame: .malformedKey(.pkcs1))
            let key = try pkcs1Public(&top, bytes)
            try top.finish()
            return key
        case .jwk: return try JWKReader(bytes).publicKey(bytes)
        case .openSSHPublic: return try OpenSSHKey.publicKey(bytes)
        case .ageRecipient: return try AgeText.onlyPublicKey(bytes)
        case .pem, .pkcs8, .encryptedPKCS8, .sec1, .encryptedPEM, .pkcs12, .openSSHPrivate, .ageIdentity,
            .encryptedAgeIdentity:
            throw .unsupportedKey(format)
        }
    }

    // MARK: Private

    /// RFC 5958: version 0, or version 1 with the public key at its end.
    static func pkcs8(_ top: inout DERCursor, _ bytes: Span<UInt8>) throws(CryptoError) -> PrivateKey {
        var info = try top.enter(DERTag.sequence, bytes)
        let version = try info.small(bytes)
        guard version <= 1 else { throw .unsupportedKey(.pkcs8) }
        let algorithm = try KeyAlgorithm(&info, bytes)
        let octets = try info.element(DERTag.octetString, bytes)
        // Attributes say nothing about the key itself.
        if info.tag(bytes) == DERTag.context(0) { _ = try info.any(bytes) }
        var publicBits: [UInt8]?
        if let range = try implicitBits(&info, bytes) { publicBits = bytes.bytes(range) }
        try info.finish()
        guard (version == 1) == (publicBits != nil) else { throw info.blame }
        var inside = DERCursor(octets, blame: info.blame)
        let key: PrivateKey
        switch algorithm {
        case .rsa:
            key = try pkcs1(&inside, bytes)
            if let publicBits, try key.publicKey().pkcs1() != publicBits { throw .invalidKey }
        case .ec(let curve):
            key = try sec1(&inside, bytes, curve)
            if let publicBits, try key.publicKey().point() != PublicKey(curve, point: publicBits).point() {
                throw .invalidKey
            }
        case .ed25519, .x25519:
            let raw = try inside.element(DERTag.octetString, bytes)
            guard raw.count == 32 else { throw info.blame }
            key = try PrivateKey(algorithm.kind, raw: bytes.extracting(raw), publicBytes: publicBits)
        }
        try inside.finish()
        return key
    }

    /// `[1] IMPLICIT BIT STRING`.
    private static func implicitBits(_ info: inout DERCursor, _ bytes: Span<UInt8>) throws(CryptoError) -> Range<Int>? {
        guard info.tag(bytes) == DERTag.primitive(1) else { return nil }
        let content = try info.any(bytes).content
        guard let unused = content.first, bytes[unused] == 0 else { throw info.blame }
        return content.dropFirst()
    }

    static func pkcs1(_ top: inout DERCursor, _ bytes: Span<UInt8>) throws(CryptoError) -> PrivateKey {
        var numbers = try top.enter(DERTag.sequence, bytes)
        // Version 1 is a key of more than two primes.
        guard try numbers.small(bytes) == 0 else { throw .unsupportedKey(.pkcs1) }
        var ranges: [Range<Int>] = []
        for _ in PrivateKey.RSANumbers.names { ranges.append(try numbers.unsigned(bytes)) }
        try numbers.finish()
        let start = ranges[0].lowerBound
        let values = SecretBytes(copying: bytes.extracting(start..<numbers.end))
        let moved = ranges.map { $0.lowerBound - start..<$0.upperBound - start }
        return try PrivateKey(rsa: PrivateKey.RSANumbers(values, moved))
    }

    /// RFC 5915. In PKCS#8 the outer structure names the curve.
    static func sec1(
        _ top: inout DERCursor, _ bytes: Span<UInt8>, _ outside: EllipticCurve?
    ) throws(CryptoError) -> PrivateKey {
        var key = try top.enter(DERTag.sequence, bytes)
        guard try key.small(bytes) == 1 else { throw .unsupportedKey(.sec1) }
        let scalar = try key.element(DERTag.octetString, bytes)
        var curve = outside
        if var parameters = try key.enterIfPresent(DERTag.context(0), bytes) {
            // Explicit parameters may be a curve that only looks like a known one (CVE-2020-0601).
            guard parameters.tag(bytes) == DERTag.objectIdentifier else { throw .unsupportedKey(.sec1) }
            guard let named = EllipticCurve(objectIdentifier: try parameters.objectIdentifier(bytes)) else {
                throw .unsupportedKey(.sec1)
            }
            try parameters.finish()
            guard outside == nil || outside == named else { throw key.blame }
            curve = named
        }
        var point: [UInt8]?
        if var holder = try key.enterIfPresent(DERTag.context(1), bytes) {
            point = bytes.bytes(try holder.bits(bytes))
            try holder.finish()
        }
        try key.finish()
        guard let curve else { throw key.blame }
        // RFC 5915 asks for the field's length; older programs left leading zeros out. Nine of them do not occur by chance:
        // such a number belongs to another curve.
        guard (curve.count - 8...curve.count).contains(scalar.count) else { throw key.blame }
        let padded = curve.padded(bytes.extracting(scalar))
        return try padded.withBytes { (scalar) throws(CryptoError) in
            try PrivateKey(curve, scalar: scalar, point: point)
        }
    }

    // MARK: Public

    static func spki(_ top: inout DERCursor, _ bytes: Span<UInt8>) throws(CryptoError) -> PublicKey {
        var info = try top.enter(DERTag.sequence, bytes)
        let algorithm = try KeyAlgorithm(&info, bytes)
        let bits = try info.bits(bytes)
        try info.finish()
        switch algorithm {
        case .rsa:
            var inside = DERCursor(bits, blame: info.blame)
            let key = try pkcs1Public(&inside, bytes)
            try inside.finish()
            return key
        case .ec(let curve): return try PublicKey(curve, point: bytes.extracting(bits))
        case .ed25519, .x25519:
            guard bits.count == 32 else { throw info.blame }
            return try PublicKey(algorithm.kind, raw: bytes.extracting(bits))
        }
    }

    static func pkcs1Public(_ top: inout DERCursor, _ bytes: Span<UInt8>) throws(CryptoError) -> PublicKey {
        var numbers = try top.enter(DERTag.sequence, bytes)
        let (modulus, exponent) = (try numbers.unsigned(bytes), try numbers.unsigned(bytes))
        try numbers.finish()
        return try PublicKey(rsaModulus: bytes.extracting(modulus), exponent: bytes.extracting(exponent))
    }
}

/// The AlgorithmIdentifier of a key.
enum KeyAlgorithm {
    case rsa, ec(EllipticCurve), ed25519, x25519

    /// The kind of key. For RSA the size is 0, because the identifier does not name it.
    var kind: KeyKind {
        switch self {
        case .rsa: .rsa(bits: 0)
        case .ec(let curve): .ec(curve)
        case .ed25519: .ed25519
        case .x25519: .x25519
        }
    }

    init(_ cursor: inout DERCursor, _ bytes: Span<UInt8>) throws(CryptoError) {
        var algorithm = try cursor.enter(DERTag.sequence, bytes)
        guard case .malformedKey(let format) = algorithm.blame else { throw algorithm.blame }
        switch try algorithm.objectIdentifier(bytes) {
        case OID.rsaEncryption:
            try algorithm.null(bytes)
            self = .rsa
        case OID.ecPublicKey:
            guard algorithm.tag(bytes) == DERTag.objectIdentifier else {
                // Explicit parameters may be a curve that only looks like a known one (CVE-2020-0601).
                throw algorithm.tag(bytes) == DERTag.sequence ? .unsupportedKey(format) : algorithm.blame
            }
            guard let curve = EllipticCurve(objectIdentifier: try algorithm.objectIdentifier(bytes)) else {
                throw .unsupportedKey(format)
            }
            self = .ec(curve)
        case OID.ed25519: self = .ed25519
        case OID.x25519: self = .x25519
        default: throw .unsupportedKey(format)
        }
        try algorithm.finish()
    }
}
