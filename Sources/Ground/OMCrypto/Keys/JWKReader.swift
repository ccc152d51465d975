// The reader of JSON Web Keys: RFC 7517, RFC 7518 section 6, RFC 8037. It reads one object strictly. No secret becomes a
// String.

internal import OMJSON
internal import OMSecrets

/// The ranges of the members of one JSON object. Values are not decoded: keys are base64url, which needs no escapes.
struct JWKReader {
    private var members: [String: Range<Int>] = [:]
    private static let blame = CryptoError.malformedKey(.jwk)
    /// How deep the objects and lists of a key may nest.
    private static let deepest = 8

    static func isJWK(_ bytes: Span<UInt8>) -> Bool {
        bytes.indices.first { !JSONText.isSpace(bytes[$0]) }.map { bytes[$0] } == UInt8(ascii: "{")
    }

    init(_ bytes: Span<UInt8>) throws(CryptoError) {
        guard (try? UTF8Span(validating: bytes)) != nil else { throw Self.blame }
        do throws(MalformedJSON) {
            var tokens = JSONTokenizer(0..<bytes.count, deepest: Self.deepest)
            guard try tokens.token(in: bytes) == .object else { throw Self.malformed }
            while case .name(let name)? = try tokens.token(in: bytes) {
                members[try Self.plain(name, bytes)] = try tokens.wholeValue(in: bytes)
            }
            _ = try tokens.token(in: bytes)
        } catch { throw Self.blame }
    }

    /// The text, which must have no escapes: no member of a key and no operation needs one, and a name with two spellings
    /// would give a file two readings.
    private static func plain(_ name: Range<Int>, _ bytes: Span<UInt8>) throws(MalformedJSON) -> String {
        guard !name.contains(where: { bytes[$0] == UInt8(ascii: "\\") }) else { throw malformed }
        return bytes.text(name)
    }

    private static let malformed = MalformedJSON(position: 0, problem: "no JSON Web Key")

    var isPrivate: Bool { members["d"] != nil }

    /// Whether a member of the key is secret, also if the key is not complete: RFC 7518 sections 6.2.2, 6.3.2 and 6.4.
    var hasPrivateMembers: Bool {
        ["d", "p", "q", "dp", "dq", "qi", "oth", "k"].contains { members[$0] != nil }
    }

    // MARK: Keys

    func publicKey(_ bytes: Span<UInt8>) throws(CryptoError) -> PublicKey {
        let uses = try uses(bytes)
        var key = try publicNumbers(bytes)
        // The public half of a private JWK allows the counterpart of each of its operations.
        key.uses = isPrivate ? uses.ofPublicHalf : uses
        return key
    }

    func privateKey(_ bytes: Span<UInt8>) throws(CryptoError) -> PrivateKey {
        let uses = try uses(bytes)
        var key = try privateNumbers(bytes)
        key.uses = uses
        return key
    }

    /// What `use` and `key_ops` allow (RFC 7517 sections 4.2 and 4.3).
    private func uses(_ bytes: Span<UInt8>) throws(CryptoError) -> KeyUses {
        var uses = KeyUses.any
        if members["use"] != nil {
            guard let named = KeyUses(use: try text("use", bytes)) else { throw Self.blame }
            uses = named
        }
        guard let list = members["key_ops"] else { return uses }
        let listed = KeyUses(operations: try Self.operations(list, bytes))
        // A key may have both if they agree. An operation outside of the use is a contradiction.
        guard listed.isSubset(of: uses) else { throw Self.blame }
        return listed
    }

    private static func operations(_ list: Range<Int>, _ bytes: Span<UInt8>) throws(CryptoError) -> Set<String> {
        var operations: Set<String> = []
        do throws(MalformedJSON) {
            var tokens = JSONTokenizer(list, deepest: 1)
            guard try tokens.token(in: bytes) == .list else { throw malformed }
            while let token = try tokens.token(in: bytes), token != .listEnd {
                guard case .string(let operation) = token, operations.insert(try plain(operation, bytes)).inserted else {
                    throw malformed
                }
            }
        } catch { throw blame }
        return operations
    }

    private func publicNumbers(_ bytes: Span<UInt8>) throws(CryptoError) -> PublicKey {
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

    private func privateNumbers(_ bytes: Span<UInt8>) throws(CryptoError) -> PrivateKey {
        let type = try text("kty", bytes)
        guard isPrivate else {
            _ = try publicKey(bytes)
            throw .noPrivateKey
        }
        switch type {
        case "RSA":
            // `oth` is a key of more than two primes; RFC 7518 section 6.3.2.7 forbids readers to ignore it.
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

    /// The text of `kid` or `alg`, without its escapes. Nil if the key does not have it.
    ///
    /// - Throws: ``CryptoError/malformedKey(_:)`` for another value than text, and for a text above `maximum` bytes.
    func label(_ name: String, maximum: Int, _ bytes: Span<UInt8>) throws(CryptoError) -> String? {
        guard members[name] != nil else { return nil }
        let text = JSONText.decode(try string(name, bytes), in: bytes)
        guard text.utf8.count <= maximum else { throw Self.blame }
        return text
    }

    /// A number without leading zeros, RFC 7518 section 2.
    private func number(_ name: String, _ bytes: Span<UInt8>) throws(CryptoError) -> SecretBytes {
        let number = try decoded(name, bytes)
        guard number.withBytes({ !$0.isEmpty && $0[0] != 0 }) else { throw Self.blame }
        return number
    }

    private func decoded(_ name: String, _ bytes: Span<UInt8>, count: Int? = nil) throws(CryptoError) -> SecretBytes {
        let text = try string(name, bytes)
        do throws(SecretsError) {
            let value = try Base64URL.decode(bytes.extracting(text))
            guard count == nil || value.count == count else { throw SecretsError.notCanonical }
            return value
        } catch { throw Self.blame }
    }
}
