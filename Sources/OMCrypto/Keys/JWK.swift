// JSON Web Keys: RFC 7517, RFC 7518 section 6, RFC 8037. One object, read strictly; what is secret never becomes a String.

internal import OMSecrets

/// Where the members of one JSON object stand. Values are not decoded: keys are base64url, which needs no escapes.
struct JWKReader {
    private var members: [String: Range<Int>] = [:]
    private static let blame = CryptoError.malformedKey(.jwk)
    /// Objects and lists within a key, at most.
    private static let deepest = 8

    static func isJWK(_ bytes: Span<UInt8>) -> Bool {
        bytes.indices.first { !isSpace(bytes[$0]) }.map { bytes[$0] } == UInt8(ascii: "{")
    }

    init(_ bytes: Span<UInt8>) throws(CryptoError) {
        guard (try? UTF8Span(validating: bytes)) != nil else { throw Self.blame }
        var scanner = JSONScanner(bytes.count, blame: Self.blame)
        try scanner.object(bytes, depth: Self.deepest) { name, value in members.updateValue(value, forKey: name) == nil
        }
        try scanner.finish(bytes)
    }

    var isPrivate: Bool { members["d"] != nil }

    // MARK: Keys

    func publicKey(_ bytes: Span<UInt8>) throws(CryptoError) -> PublicKey {
        switch try text("kty", bytes) {
        case "RSA":
            let modulus = try number("n", bytes)
            let exponent = try number("e", bytes)
            return try modulus.withBytes { (modulus) throws(CryptoError) in
                try exponent.withBytes { (exponent) throws(CryptoError) in
                    try PublicKey(rsaModulus: modulus, exponent: exponent)
                }
            }
        case "EC":
            let curve = try curve(bytes)
            return try PublicKey(curve, point: point(curve, bytes))
        case "OKP":
            let kind = try octetKind(bytes)
            let raw = try decoded("x", bytes, count: 32)
            return try raw.withBytes { (raw) throws(CryptoError) in try PublicKey(kind, raw: raw) }
        default: throw .unsupportedKey(.jwk)
        }
    }

    func privateKey(_ bytes: Span<UInt8>) throws(CryptoError) -> PrivateKey {
        let type = try text("kty", bytes)
        guard isPrivate else {
            _ = try publicKey(bytes)
            throw .noPrivateKey
        }
        switch type {
        case "RSA":
            // A key of more than two primes; RFC 7518 section 6.3.2.7 forbids to pass it over.
            guard members["oth"] == nil, ["p", "q", "dp", "dq", "qi"].allSatisfy({ members[$0] != nil }) else {
                throw .unsupportedKey(.jwk)
            }
            var values = SecretBuffer(capacity: bytes.count)
            var ranges: [Range<Int>] = []
            for name in ["n", "e", "d", "p", "q", "dp", "dq", "qi"] {
                let number = try number(name, bytes)
                ranges.append(values.count..<values.count + number.count)
                values.append(number)
            }
            return try PrivateKey(rsa: PrivateKey.RSANumbers(values.finish(), ranges))
        case "EC":
            let curve = try curve(bytes)
            let scalar = try decoded("d", bytes, count: curve.count)
            let point = try point(curve, bytes)
            return try scalar.withBytes { (scalar) throws(CryptoError) in
                try PrivateKey(curve, scalar: scalar, point: point)
            }
        case "OKP":
            let kind = try octetKind(bytes)
            let seed = try decoded("d", bytes, count: 32)
            let half = try decoded("x", bytes, count: 32)
            return try seed.withBytes { (seed) throws(CryptoError) in
                try PrivateKey(kind, raw: seed, publicBytes: half.withBytes { [UInt8](copying: $0) })
            }
        default: throw .unsupportedKey(.jwk)
        }
    }

    // MARK: Members

    private func curve(_ bytes: Span<UInt8>) throws(CryptoError) -> EllipticCurve {
        let name = try text("crv", bytes)
        guard let curve = EllipticCurve.allCases.first(where: { $0.name == name }) else { throw .unsupportedKey(.jwk) }
        return curve
    }

    private func octetKind(_ bytes: Span<UInt8>) throws(CryptoError) -> KeyKind {
        switch try text("crv", bytes) {
        case "Ed25519": return .ed25519
        case "X25519": return .x25519
        default: throw .unsupportedKey(.jwk)
        }
    }

    private func point(_ curve: EllipticCurve, _ bytes: Span<UInt8>) throws(CryptoError) -> [UInt8] {
        let x = try decoded("x", bytes, count: curve.count).withBytes { [UInt8](copying: $0) }
        return try [4] + x + decoded("y", bytes, count: curve.count).withBytes { [UInt8](copying: $0) }
    }

    private func string(_ name: String, _ bytes: Span<UInt8>) throws(CryptoError) -> Range<Int> {
        guard let value = members[name], value.count >= 2, bytes[value.lowerBound] == UInt8(ascii: "\"") else {
            throw Self.blame
        }
        return value.dropFirst().dropLast()
    }

    private func text(_ name: String, _ bytes: Span<UInt8>) throws(CryptoError) -> String {
        bytes.text(try string(name, bytes))
    }

    /// A number without leading zeros, RFC 7518 section 2.
    private func number(_ name: String, _ bytes: Span<UInt8>) throws(CryptoError) -> SecretBytes {
        let number = try decoded(name, bytes)
        guard number.withBytes({ !$0.isEmpty && $0[0] != 0 }) else { throw Self.blame }
        return number
    }

    private func decoded(_ name: String, _ bytes: Span<UInt8>, count: Int? = nil) throws(CryptoError) -> SecretBytes {
        let text = bytes.extracting(try string(name, bytes))
        var standard = SecretBuffer(capacity: text.count + 4)
        for index in text.indices {
            switch text[index] {
            case UInt8(ascii: "-"): standard.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): standard.append(UInt8(ascii: "/"))
            case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): throw Self.blame
            default: standard.append(text[index])
            }
        }
        while standard.count % 4 != 0 { standard.append(UInt8(ascii: "=")) }
        let value = try Self.decode(standard.finish())
        guard count == nil || value.count == count else { throw Self.blame }
        return value
    }

    private static func decode(_ text: consuming SecretBytes) throws(CryptoError) -> SecretBytes {
        do throws(SecretsError) { return try Base64.decode(text) } catch { throw blame }
    }

    fileprivate static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }
}

/// Checks JSON (RFC 8259) and tells where values are.
private struct JSONScanner {
    private var position = 0
    private let end: Int
    private let blame: CryptoError

    init(_ end: Int, blame: CryptoError) { (self.end, self.blame) = (end, blame) }

    mutating func finish(_ bytes: Span<UInt8>) throws(CryptoError) {
        skipSpace(bytes)
        guard position == end else { throw blame }
    }

    /// - Parameter take: false refuses a member, such as one that was there before.
    mutating func object(
        _ bytes: Span<UInt8>, depth: Int, _ take: (String, Range<Int>) -> Bool
    ) throws(CryptoError) {
        guard depth > 0, takes("{", bytes) else { throw blame }
        if takes("}", bytes) { return }
        repeat {
            skipSpace(bytes)
            let name = try string(bytes)
            // No member of a key needs an escape, and two spellings of one name are two readings of one file.
            guard !name.contains(where: { bytes[$0] == UInt8(ascii: "\\") }), takes(":", bytes) else { throw blame }
            let value = try value(bytes, depth: depth - 1)
            guard take(bytes.text(name), value) else { throw blame }
        } while takes(",", bytes)
        guard takes("}", bytes) else { throw blame }
    }

    private mutating func value(_ bytes: Span<UInt8>, depth: Int) throws(CryptoError) -> Range<Int> {
        skipSpace(bytes)
        let start = position
        switch position < end ? bytes[position] : 0 {
        case UInt8(ascii: "\""): _ = try string(bytes)
        case UInt8(ascii: "{"):
            var names: Set<String> = []
            try object(bytes, depth: depth) { name, _ in names.insert(name).inserted }
        case UInt8(ascii: "["):
            guard depth > 0, takes("[", bytes) else { throw blame }
            if !takes("]", bytes) {
                repeat { _ = try value(bytes, depth: depth - 1) } while takes(",", bytes)
                guard takes("]", bytes) else { throw blame }
            }
        case UInt8(ascii: "t"): try word("true", bytes)
        case UInt8(ascii: "f"): try word("false", bytes)
        case UInt8(ascii: "n"): try word("null", bytes)
        default: try number(bytes)
        }
        return start..<position
    }

    /// What stands between the quotes.
    private mutating func string(_ bytes: Span<UInt8>) throws(CryptoError) -> Range<Int> {
        guard position < end, bytes[position] == UInt8(ascii: "\"") else { throw blame }
        position += 1
        let start = position
        while position < end {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return start..<position - 1
            case UInt8(ascii: "\\"): try escape(bytes)
            case 0..<0x20: throw blame
            default: position += 1
            }
        }
        throw blame
    }

    private mutating func escape(_ bytes: Span<UInt8>) throws(CryptoError) {
        guard position + 1 < end else { throw blame }
        let kind = bytes[position + 1]
        position += 2
        if kind == UInt8(ascii: "u") {
            guard end - position >= 4, (position..<position + 4).allSatisfy({ Self.isHex(bytes[$0]) }) else {
                throw blame
            }
            position += 4
        } else if !Array("\"\\/bfnrt".utf8).contains(kind) {
            throw blame
        }
    }

    private mutating func number(_ bytes: Span<UInt8>) throws(CryptoError) {
        if position < end, bytes[position] == UInt8(ascii: "-") { position += 1 }
        let start = position
        try digits(bytes)
        guard bytes[start] != 0x30 || position == start + 1 else { throw blame }
        if position < end, bytes[position] == UInt8(ascii: ".") {
            position += 1
            try digits(bytes)
        }
        if position < end, bytes[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            if position < end, bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-") {
                position += 1
            }
            try digits(bytes)
        }
    }

    private mutating func digits(_ bytes: Span<UInt8>) throws(CryptoError) {
        let start = position
        while position < end, (0x30...0x39).contains(bytes[position]) { position += 1 }
        guard position > start else { throw blame }
    }

    private mutating func word(_ word: String, _ bytes: Span<UInt8>) throws(CryptoError) {
        guard bytes.has(word, at: position..<end) else { throw blame }
        position += word.utf8.count
    }

    private mutating func takes(_ character: Unicode.Scalar, _ bytes: Span<UInt8>) -> Bool {
        skipSpace(bytes)
        guard position < end, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace(_ bytes: Span<UInt8>) {
        while position < end, JWKReader.isSpace(bytes[position]) { position += 1 }
    }

    private static func isHex(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20)
    }
}
