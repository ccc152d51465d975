// OpenSSH's keys: the public line (RFC 4253 section 6.6, RFC 5656, RFC 8709) and the private file of its PROTOCOL.key.

internal import OMSecrets

enum OpenSSHKey {
    private static let names = [
        "ssh-rsa", "ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
    ]
    static let magic = Array("openssh-key-v1\0".utf8)

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
        return try publicKey(blob: blob)
    }

    /// The bytes of a line, which begin with the key's name.
    static func publicKey(blob: [UInt8]) throws(CryptoError) -> PublicKey {
        var cursor = SSHCursor(0..<blob.count, blame: .malformedKey(.openSSHPublic))
        let name = try cursor.text(blob.span)
        guard names.contains(name) else { throw .unsupportedKey(.openSSHPublic) }
        let key = try publicKey(named: name, &cursor, blob.span)
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

    /// A file's parts, as ranges of its bytes.
    private struct Parts {
        let encryption: OpenSSHEncryption?
        let publicBlob: Range<Int>
        let section: Range<Int>
        let tag: Range<Int>

        /// The padding fills up a block of so many bytes.
        var blockCount: Int { encryption?.cipher.blockCount ?? 8 }
    }

    private static func parts(_ bytes: Span<UInt8>) throws(CryptoError) -> Parts {
        let blame = CryptoError.malformedKey(.openSSHPrivate)
        guard bytes.count > magic.count, bytes.bytes(0..<magic.count) == magic else { throw blame }
        var file = SSHCursor(magic.count..<bytes.count, blame: blame)
        let (cipher, derivation) = (try file.text(bytes), try file.text(bytes))
        let encryption = try encryption(cipher, derivation, options: file.string(bytes), bytes)
        guard try file.number(bytes) == 1 else { throw blame }
        let publicBlob = try file.string(bytes)
        let section = try file.string(bytes)
        let parts = Parts(encryption: encryption, publicBlob: publicBlob, section: section, tag: file.rest)
        guard parts.tag.count == encryption?.cipher.tagCount ?? 0, section.count % parts.blockCount == 0 else {
            throw blame
        }
        return parts
    }

    private static func encryption(
        _ cipher: String, _ derivation: String, options: Range<Int>, _ bytes: Span<UInt8>
    ) throws(CryptoError) -> OpenSSHEncryption? {
        let blame = CryptoError.malformedKey(.openSSHPrivate)
        guard cipher != "none" || derivation != "none" else {
            guard options.isEmpty else { throw blame }
            return nil
        }
        guard let known = OpenSSHEncryption.Cipher(rawValue: cipher), derivation == OpenSSHEncryption.derivation else {
            throw .unsupportedKey(.openSSHPrivate)
        }
        var inside = SSHCursor(options, blame: blame)
        let salt = try inside.string(bytes)
        let rounds = try inside.number(bytes)
        try inside.finish()
        guard (1...1024).contains(salt.count), rounds > 0 else { throw blame }
        return OpenSSHEncryption(cipher: known, salt: bytes.bytes(salt), rounds: rounds)
    }

    /// The encryption of a file that omvault can decrypt. Nil for others.
    static func encryption(_ bytes: Span<UInt8>) -> OpenSSHEncryption? { (try? parts(bytes))?.encryption }

    /// The key of a file that is not encrypted.
    static func privateKey(_ bytes: Span<UInt8>) throws(CryptoError) -> PrivateKey {
        let parts = try parts(bytes)
        guard parts.encryption == nil else { throw .keyPasswordRequired }
        return try key(
            in: bytes.extracting(parts.section), publicBlob: bytes.extracting(parts.publicBlob), block: parts.blockCount,
            otherwise: .malformedKey(.openSSHPrivate))
    }

    /// The key of an encrypted file.
    static func privateKey(
        _ bytes: Span<UInt8>, password: borrowing SecretBytes, limit: WorkLimit
    ) throws(CryptoError) -> PrivateKey {
        let parts = try parts(bytes)
        guard let encryption = parts.encryption else { throw .wrongKeyPassword }
        let section = try encryption.open(
            bytes.extracting(parts.section), tag: bytes.bytes(parts.tag), password: password, limit: limit)
        return try section.withBytes { (section) throws(CryptoError) in
            try key(
                in: section, publicBlob: bytes.extracting(parts.publicBlob), block: parts.blockCount,
                otherwise: .wrongKeyPassword)
        }
    }

    /// The file's one key. The file holds the public half twice, and the private half once.
    ///
    /// - Parameter otherwise: The error if the two check numbers at the start differ, as after a wrong password.
    private static func key(
        in section: Span<UInt8>, publicBlob: Span<UInt8>, block: Int, otherwise error: CryptoError
    ) throws(CryptoError) -> PrivateKey {
        let blame = CryptoError.malformedKey(.openSSHPrivate)
        var inside = SSHCursor(section.indices, blame: blame)
        let (one, other) = (try inside.number(section), try inside.number(section))
        guard one == other else { throw error }
        var outside = SSHCursor(publicBlob.indices, blame: blame)
        let name = try outside.text(publicBlob)
        guard try inside.text(section) == name, names.contains(name) else { throw .unsupportedKey(.openSSHPrivate) }
        let key = try privateKey(named: name, &inside, section)
        // The comment, then 1, 2, 3 … up to a whole block. Python's cryptography adds a block even if none is needed.
        _ = try inside.string(section)
        let padding = inside.rest
        guard padding.count <= block, padding.allSatisfy({ Int(section[$0]) == $0 - padding.lowerBound + 1 }) else {
            throw blame
        }
        let half = try publicKey(named: name, &outside, publicBlob)
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
    var sshName: String {
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

    package func openSSHBlob() throws(CryptoError) -> (name: String, blob: [UInt8]) {
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
