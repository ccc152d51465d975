// An X.509 certificate that accompanies a key. Its content is shown and not trusted: this code checks no chains.

internal import COpenSSL
public import OMSecrets

/// A certificate (RFC 5280), parsed up to its public key.
public struct Certificate: Hashable, Sendable {
    public let der: [UInt8]
    /// The SubjectPublicKeyInfo, in DER.
    public let spki: [UInt8]

    /// - Throws: ``CryptoError/malformedKey(_:)`` unless the bytes are one certificate in DER.
    public init(der: [UInt8]) throws(CryptoError) { try self.init(der: der, blame: .malformedKey(.pem)) }

    init(der: [UInt8], blame: CryptoError) throws(CryptoError) {
        let bytes = der.span
        var top = DERCursor(0..<bytes.count, blame: blame)
        var certificate = try top.enter(DERTag.sequence, bytes)
        try top.finish()
        var body = try certificate.enter(DERTag.sequence, bytes)
        _ = try certificate.element(DERTag.sequence, bytes)
        _ = try certificate.element(DERTag.bitString, bytes)
        try certificate.finish()
        if body.tag(bytes) == DERTag.context(0) { _ = try body.any(bytes) }
        _ = try body.element(DERTag.integer, bytes)
        // Signature's algorithm, issuer, validity, subject.
        for _ in 0..<4 { _ = try body.element(DERTag.sequence, bytes) }
        guard body.tag(bytes) == DERTag.sequence else { throw blame }
        spki = bytes.bytes(try body.any(bytes).whole)
        self.der = der
    }

    /// SHA-256 of the certificate.
    public func fingerprint() throws(CryptoError) -> [UInt8] { try Digest.of(der, .sha256) }

    /// The subject's name in RFC 2253's form. It is untrusted text: escape it before you show it. Nil if OpenSSL cannot read
    /// it.
    public var subject: String? {
        guard let certificate = try? OpenSSLCertificate(self) else { return nil }
        return try? certificate.text(of: X509_get_subject_name(certificate.pointer))
    }
}

extension Certificate {
    /// The certificates of a file, in the file's order: one in DER, or all in PEM.
    ///
    /// - Throws: ``CryptoError/malformedKey(_:)`` for a file without a certificate, or with a malformed block.
    public static func all(in file: borrowing SecretBytes) throws(CryptoError) -> [Certificate] {
        try file.withBytes { (bytes) throws(CryptoError) in
            guard PEMBlock.isPEM(bytes) else { return [try Certificate(der: bytes.bytes(bytes.indices))] }
            var found: [Certificate] = []
            for der in try PEMBlock.bodies(labelled: "CERTIFICATE", in: bytes) {
                found.append(try Certificate(der: der))
            }
            guard !found.isEmpty else { throw .malformedKey(.pem) }
            return found
        }
    }
}
