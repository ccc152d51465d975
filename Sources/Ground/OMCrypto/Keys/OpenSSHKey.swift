// OpenSSH's keys: the public line (RFC 4253 section 6.6, RFC 5656, RFC 8709) and the unencrypted private file of its
// PROTOCOL.key.

internal import OMSecrets

/// A position in SSH's binary encoding. A length of four bytes comes before each string.
private struct SSHCursor {
    private var position: Int
    private let end: Int
    let blame: CryptoError

    init(_ range: Range<Int>, blame: CryptoError) {
        (position, end, self.blame) = (range.lowerBound, range.upperBound, blame)
    }

    mutating func number(_ bytes: Span<UInt8>) throws(CryptoError) -> Int {
        guard end - position >= 4 else { throw blame }
        defer { position += 4 }
        return (position..<position + 4).reduce(0) { $0 << 8 | Int(bytes[$1]) }
    }

    mutating func string(_ bytes: Span<UInt8>) throws(CryptoError) -> Range<Int> {
        let count = try number(bytes)
        guard count <= end - position else { throw blame }
        defer { position += count }
        return position..<position + count
    }

    mutating func text(_ bytes: Span<UInt8>) throws(CryptoError) -> String {
        let range = try string(bytes)
        guard range.count <= 64 else { throw blame }
        return bytes.text(range)
    }

    /// A number above 0 in the fewest bytes, with a zero before a high bit (RFC 4251 section 5).
    mutating func mpint(_ bytes: Span<UInt8>) throws(CryptoError) -> Range<Int> {
        let range = try string(bytes)
        guard let first = range.first, bytes[first] < 0x80 else { throw blame }
        guard bytes[first] == 0 else { return range }
        guard range.count > 1, bytes[first + 1] >= 0x80 else { throw blame }
        return range.dropFirst()
    }

    var rest: Range<Int> { position..<end }

    func finish() throws(CryptoError) {
        guard position == end else { throw blame }
    }
}

enum OpenSSHKey {
    private static let names = [
        "ssh-rsa", "ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
    ]
    private static let magic = Array("openssh-key-v1\0".utf8)

    static func isPublic(_ bytes: Span<UInt8>) -> Bool {
        let start = 0..<bytes.count
        return ["ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-"].contains { bytes.has($0, at: start) }
    }

    // MARK: Public

    /// One line: name, base64, and a comment that says nothing about the key.
    static func publicKey(_ bytes: Span<UInt8>) throws(CryptoError) -> PublicKey {
        let blame = CryptoError.malformedKey(.openSSHPublic)
        var line = 0..<bytes.count
        if line.last.map({ bytes[$0] }) == UInt8(ascii: "\n") { line = line.dropLast() }
        if line.last.map({ bytes[$0] }) == UInt8(ascii: "\r") { line = line.dropLast() }
        guard line.allSatisfy({ bytes[$0] >= 0x20 && bytes[$0] != 0x7F }) else { throw blame }
        let words = bytes.text(line).split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count >= 2 else { throw blame }
        guard names.contains(String(words[0])) else { throw .unsupportedKey(.openSSHPublic) }
        guard let blob = try? Base64.decode(String(words[1])) else { throw blame }
        var cursor = SSHCursor(0..<blob.count, blame: blame)
        guard try cursor.text(blob.span) == words[0] else { throw blame }
        let key = try publicKey(named: String(words[0]), &cursor, blob.span)
        try cursor.finish()
        return key
    }

    private static func publicKey(
        named name: String, _ cursor: inout SSHCursor, _ blob: Span<UInt8>
    ) throws(CryptoError) -> PublicKey {
        switch name {
        case "ssh-rsa":
            let (exponent, modulus) = (try cursor.mpint(blob), try cursor.mpint(blob))
            return try PublicKey(rsaModulus: blob.extracting(modulus), exponent: blob.extracting(exponent))
        case "ssh-ed25519":
            let raw = try cursor.string(blob)
            guard raw.count == 32 else { throw cursor.blame }
            return try PublicKey(.ed25519, raw: blob.extracting(raw))
        default:
            guard let curve = EllipticCurve.allCases.first(where: { "ecdsa-sha2-\($0.sshName)" == name }),
                try cursor.text(blob) == curve.sshName
            else { throw cursor.blame }
            let point = try cursor.string(blob)
            guard point.count == 1 + 2 * curve.count else { throw cursor.blame }
            return try PublicKey(curve, point: blob.extracting(point))
        }
    }

    // MARK: Private

    static func isEncrypted(_ bytes: Span<UInt8>) -> Bool {
        guard bytes.count > magic.count else { return false }
        var cursor = SSHCursor(magic.count..<bytes.count, blame: .malformedKey(.openSSHPrivate))
        guard let cipher = try? cursor.text(bytes) else { return false }
        return cipher != "none"
    }

    /// The file's one key. The file holds the public half twice and the private half once. An encrypted file needs bcrypt's
    /// own key derivation, which the toolkit does not have: `ssh-keygen -p -m PKCS8` turns the file into PKCS#8.
    static func privateKey(_ bytes: Span<UInt8>) throws(CryptoError) -> PrivateKey {
        let blame = CryptoError.malformedKey(.openSSHPrivate)
        guard bytes.count > magic.count, bytes.bytes(0..<magic.count) == magic else { throw blame }
        var file = SSHCursor(magic.count..<bytes.count, blame: blame)
        let (cipher, derivation) = (try file.text(bytes), try file.text(bytes))
        guard cipher == "none", derivation == "none" else { throw .unsupportedKey(.openSSHPrivate) }
        guard try file.string(bytes).isEmpty, try file.number(bytes) == 1 else { throw blame }
        let publicBlob = try file.string(bytes)
        var section = SSHCursor(try file.string(bytes), blame: blame)
        try file.finish()
        guard section.rest.count % 8 == 0, try section.number(bytes) == section.number(bytes) else { throw blame }
        var outside = SSHCursor(publicBlob, blame: blame)
        let name = try outside.text(bytes)
        guard try section.text(bytes) == name, names.contains(name) else { throw .unsupportedKey(.openSSHPrivate) }
        let key = try privateKey(named: name, &section, bytes)
        // The comment, then 1, 2, 3 … up to a whole block. Python's cryptography adds a block even if none is needed.
        _ = try section.string(bytes)
        let padding = section.rest
        guard padding.count <= 8, padding.allSatisfy({ Int(bytes[$0]) == $0 - padding.lowerBound + 1 }) else {
            throw blame
        }
        let half = try publicKey(named: name, &outside, bytes)
        try outside.finish()
        guard try half.spki() == key.publicKey().spki() else { throw .invalidKey }
        return key
    }

    private static func privateKey(
        named name: String, _ section: inout SSHCursor, _ bytes: Span<UInt8>
    ) throws(CryptoError) -> PrivateKey {
        switch name {
        case "ssh-rsa":
            let (n, e, d) = (try section.mpint(bytes), try section.mpint(bytes), try section.mpint(bytes))
            let (inverse, p, q) = (try section.mpint(bytes), try section.mpint(bytes), try section.mpint(bytes))
            return try PrivateKey.rsa(completing: bytes, n: n, e: e, d: d, p: p, q: q, inverse: inverse)
        case "ssh-ed25519":
            let half = try section.string(bytes)
            let both = try section.string(bytes)
            guard half.count == 32, both.count == 64 else { throw section.blame }
            let tail = bytes.bytes(both.suffix(32))
            guard tail == bytes.bytes(half) else { throw section.blame }
            return try PrivateKey(.ed25519, raw: bytes.extracting(both.prefix(32)), publicBytes: tail)
        default:
            guard let curve = EllipticCurve.allCases.first(where: { "ecdsa-sha2-\($0.sshName)" == name }),
                try section.text(bytes) == curve.sshName
            else { throw section.blame }
            let point = try section.string(bytes)
            let number = try section.mpint(bytes)
            guard number.count <= curve.count else { throw section.blame }
            let scalar = curve.padded(bytes.extracting(number))
            return try scalar.withBytes { (scalar) throws(CryptoError) in
                try PrivateKey(curve, scalar: scalar, point: bytes.bytes(point))
            }
        }
    }
}

extension EllipticCurve {
    fileprivate var sshName: String {
        switch self {
        case .p256: "nistp256"
        case .p384: "nistp384"
        case .p521: "nistp521"
        }
    }
}

extension PublicKey {
    /// The line of an `authorized_keys` file, without its newline: `ssh-ed25519 AAAA… comment`.
    ///
    /// - Parameter comment: printable text, or nothing.
    /// - Throws: ``CryptoError/wrongKeyType`` for X25519, which OpenSSH does not have.
    public func openSSHLine(comment: String = "") throws(CryptoError) -> String {
        let (name, blob) = try openSSHBlob()
        return "\(name) \(Base64.encode(blob))" + (comment.isEmpty ? "" : " \(comment)")
    }

    /// `SHA256:…`, as `ssh-keygen -l` prints it.
    ///
    /// - Throws: ``CryptoError/wrongKeyType`` for X25519.
    public func openSSHFingerprint() throws(CryptoError) -> String {
        let text = Base64.encode(try Digest.of(openSSHBlob().blob, .sha256))
        return "SHA256:" + text.prefix { $0 != "=" }
    }

    private func openSSHBlob() throws(CryptoError) -> (name: String, blob: [UInt8]) {
        var blob: [UInt8] = []
        func add(_ bytes: [UInt8]) {
            blob.append(contentsOf: (0..<4).map { UInt8(truncatingIfNeeded: bytes.count >> (24 - 8 * $0)) })
            blob += bytes
        }
        func add(number: [UInt8]) { add((number.first ?? 0) >= 0x80 ? [0] + number : number) }
        switch kind {
        case .rsa:
            let numbers = try numbers()
            add(Array("ssh-rsa".utf8))
            add(number: numbers.exponent)
            add(number: numbers.modulus)
            return ("ssh-rsa", blob)
        case .ed25519:
            add(Array("ssh-ed25519".utf8))
            add(try rawBytes)
            return ("ssh-ed25519", blob)
        case .ec(let curve):
            let name = "ecdsa-sha2-\(curve.sshName)"
            add(Array(name.utf8))
            add(Array(curve.sshName.utf8))
            add(try point())
            return (name, blob)
        case .x25519: throw .wrongKeyType
        }
    }
}

extension PrivateKey {
    /// Computes the exponents modulo the primes from d, because OpenSSH does not store them.
    fileprivate static func rsa(
        completing bytes: Span<UInt8>, n: Range<Int>, e: Range<Int>, d: Range<Int>, p: Range<Int>, q: Range<Int>,
        inverse: Range<Int>
    ) throws(CryptoError) -> PrivateKey {
        let dp = try RSACompletion.exponent(bytes.extracting(d), prime: bytes.extracting(p))
        let dq = try RSACompletion.exponent(bytes.extracting(d), prime: bytes.extracting(q))
        var values = SecretBuffer(capacity: bytes.count)
        var ranges: [Range<Int>] = []
        for range in [n, e, d, p, q] {
            ranges.append(values.count..<values.count + range.count)
            values.append(bytes.extracting(range))
        }
        ranges.append(values.count..<values.count + dp.count)
        values.append(dp)
        ranges.append(values.count..<values.count + dq.count)
        values.append(dq)
        ranges.append(values.count..<values.count + inverse.count)
        values.append(bytes.extracting(inverse))
        return try PrivateKey(rsa: RSANumbers(values.finish(), ranges))
    }
}
