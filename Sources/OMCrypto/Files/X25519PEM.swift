// X25519 keys in PEM, in the one form that openssl writes (RFC 8410): the DER around the 32 bytes never changes, so it
// is compared and not parsed.

public import OMSecrets

extension FileRecipient {
    /// A PEM file of one public key, `-----BEGIN PUBLIC KEY-----`.
    ///
    /// - Throws: ``CryptoError/unusableRecipient``.
    public init(pem: borrowing SecretBytes) throws(CryptoError) {
        let body = try X25519PEM.body(pem, label: "PUBLIC KEY", prefix: X25519PEM.spki)
        try self.init(publicKey: body.withBytes { [UInt8](copying: $0) })
    }
}

extension X25519Identity {
    /// A PEM file of one private key, `-----BEGIN PRIVATE KEY-----`, without a password.
    ///
    /// - Throws: ``CryptoError/unusableRecipient``.
    public init(pem: borrowing SecretBytes) throws(CryptoError) {
        try self.init(privateKey: X25519PEM.body(pem, label: "PRIVATE KEY", prefix: X25519PEM.pkcs8))
    }
}

private enum X25519PEM {
    static let spki: [UInt8] = [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x6E, 0x03, 0x21, 0x00]
    static let pkcs8: [UInt8] = [
        0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x6E, 0x04, 0x22, 0x04, 0x20,
    ]

    /// The 32 bytes behind `prefix`.
    static func body(_ pem: borrowing SecretBytes, label: String, prefix: [UInt8]) throws(CryptoError) -> SecretBytes {
        let head = Array("-----BEGIN \(label)-----".utf8)
        let foot = Array("-----END \(label)-----".utf8)
        let lines = lines(pem)
        guard lines.count == 3, equal(pem, lines[0], head), equal(pem, lines[2], foot) else { throw .unusableRecipient }
        let text = pem.withBytes { SecretBytes(copying: $0.extracting(lines[1])) }
        guard let der = try? Base64.decode(text), der.count == prefix.count + 32 else { throw .unusableRecipient }
        return try der.withBytes { (der: Span<UInt8>) throws(CryptoError) in
            guard prefix.indices.allSatisfy({ der[$0] == prefix[$0] }) else { throw .unusableRecipient }
            return SecretBytes(copying: der.extracting(prefix.count..<der.count))
        }
    }

    /// Where the lines stand; LF or CRLF, blank ones left out.
    private static func lines(_ pem: borrowing SecretBytes) -> [Range<Int>] {
        pem.withBytes { bytes in
            var (lines, start) = ([Range<Int>](), 0)
            for index in 0...bytes.count where index == bytes.count || bytes[index] == 0x0A {
                let end = index > start && bytes[index - 1] == 0x0D ? index - 1 : index
                if end > start { lines.append(start..<end) }
                start = index + 1
            }
            return lines
        }
    }

    private static func equal(_ pem: borrowing SecretBytes, _ range: Range<Int>, _ line: [UInt8]) -> Bool {
        pem.withBytes { bytes in
            range.count == line.count && line.indices.allSatisfy { bytes[range.lowerBound + $0] == line[$0] }
        }
    }
}
