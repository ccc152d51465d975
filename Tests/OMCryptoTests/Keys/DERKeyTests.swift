import OMCrypto
import OMSecrets
import Testing

/// PKCS#8, SPKI, PKCS#1 and SEC1 in DER.
@Suite struct DERKeyTests {
    private let pkcs8 = CryptoError.malformedKey(.pkcs8)
    private let spki = CryptoError.malformedKey(.spki)
    private let zeros = [UInt8](repeating: 0, count: 32)

    @Test("a key in DER is read in each of its forms")
    func readable() throws {
        #expect(problem(Sample.pkcs8) == nil)
        #expect(problem(Sample.spki) == nil)
        // RFC 5958: version 1 with the public half after the key, and attributes without meaning.
        let algorithm = D.sequence(D.ed25519)
        let key = D.octets(D.octets(Sample.seed))
        #expect(problem(D.sequence(D.integer(1), algorithm, key, der(0x81, [0], Sample.half))) == nil)
        #expect(problem(D.sequence(D.zero, algorithm, key, der(0xA0, D.sequence(D.null)))) == nil)
        for box in [Sample.rsa, Sample.p256] {
            let mine = try box.key.publicKey().fingerprint()
            #expect(try KeyFile(box.key.unencryptedPKCS8()).privateKey().publicKey().fingerprint() == mine)
            #expect(try KeyFile(secret(box.key.publicKey().spki())).publicKey().fingerprint() == mine)
        }
        #expect(try problem(Sample.rsa.key.unencryptedPKCS1().array()) == nil)
        #expect(try problem(Sample.p256.key.unencryptedSEC1().array()) == nil)
    }

    @Test("malformed DER is refused with its error")
    func malformedDER() {
        let key = Sample.pkcs8
        let body = Array(key.dropFirst(2))
        let cases: [([UInt8], CryptoError)] = [
            ([0x30], .unknownKeyFormat), ([0x30, 0], .unknownKeyFormat), ([0x30, 0x80, 0, 0], .unknownKeyFormat),
            ([0x30, 0x81, UInt8(body.count)] + body, .unknownKeyFormat),
            ([0x30, 0x82, 0, UInt8(body.count)] + body, .unknownKeyFormat),
            ([0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF] + body, .unknownKeyFormat),
            ([0x30, 0x85, 0, 0, 0, 0, UInt8(body.count)] + body, .unknownKeyFormat),
            ([0x30, 0xFF] + body, .unknownKeyFormat), ([0x30, 0x80] + body + [0, 0], .unknownKeyFormat),
            ([0x30, UInt8(body.count + 1)] + body, .unknownKeyFormat),
            ([0x30, UInt8(body.count - 1)] + body, .unknownKeyFormat), (key + [0], .unknownKeyFormat),
            (key + key, .unknownKeyFormat), (Array(key.dropLast()), .unknownKeyFormat),
            ([0x31] + key.dropFirst(), .unknownKeyFormat), ([0x3F, 0x30] + body, .unknownKeyFormat),
            (body, .unknownKeyFormat), ([0] + key, .unknownKeyFormat), (der(0x30, [1, 1, 0xFF]), .unknownKeyFormat),
            (D.sequence(D.zero), .unknownKeyFormat), (D.sequence(D.zero, D.null), .unknownKeyFormat),
            (D.sequence(D.sequence(D.ed25519)), spki), (D.sequence(D.sequence()), spki),
            (D.sequence(D.zero, D.zero), .invalidKey),
            (D.sequence([2, 0], D.sequence(D.ed25519), D.octets([])), .unknownKeyFormat),
            (D.sequence([2, 2, 0, 1], D.sequence(D.ed25519), D.octets([])), .unknownKeyFormat),
            (D.sequence([2, 1, 0x80], D.sequence(D.ed25519), D.octets([])), .unknownKeyFormat),
            (D.sequence([2, 0x81, 1, 0], D.sequence(D.ed25519), D.octets([])), .unknownKeyFormat),
            (D.sequence(D.integer(2), D.sequence(D.ed25519), D.octets([])), .unsupportedKey(.pkcs8)),
            (D.sequence(D.integer(1, 0, 0, 0, 0), D.sequence(D.ed25519), D.octets([])), pkcs8),
            (D.sequence(D.zero, D.sequence([6, 0]), D.octets([])), pkcs8),
            (D.sequence(D.zero, D.sequence(der(6, zeros + zeros)), D.octets([])), pkcs8),
            (D.sequence(D.zero, [0x30, 3, 6, 3, 0x2B], D.octets([])), pkcs8),
        ]
        #expect(cases.count >= 32)
        for (bytes, error) in cases { #expect(problem(bytes) == error, "\(Hex.encode(bytes))") }
    }

    @Test("malformed PKCS#8 and SPKI are refused with their error")
    func malformedKeys() throws {
        let ed = D.sequence(D.ed25519)
        let seed = D.octets(D.octets(Sample.seed))
        let p256 = D.sequence(D.ec, D.p256)
        let scalar = [UInt8](repeating: 1, count: 32)
        let inner = D.sequence(D.integer(1), D.octets(scalar))
        let point = try Sample.p256.key.publicKey().rawBytes
        let cases: [([UInt8], CryptoError?)] = [
            (D.sequence(D.zero, ed, D.octets(Sample.seed)), pkcs8), (D.sequence(D.zero, ed, D.octets([])), pkcs8),
            (D.sequence(D.zero, ed, D.octets(D.octets(Array(Sample.seed.dropLast())))), pkcs8),
            (D.sequence(D.zero, ed, D.octets(D.octets(Sample.seed + [0]))), pkcs8),
            (D.sequence(D.zero, ed, D.octets(D.octets(Sample.seed) + [0])), pkcs8),
            (D.sequence(D.zero, ed, seed, [0]), pkcs8), (D.sequence(D.zero, ed, seed, D.null), pkcs8),
            (D.sequence(D.zero, D.sequence(D.ed25519, D.null), seed), pkcs8),
            (D.sequence(D.zero, D.sequence(D.ed448), seed), .unsupportedKey(.pkcs8)),
            (D.sequence(D.zero, ed, seed, der(0x81, [0], Sample.half)), pkcs8),
            (D.sequence(D.integer(1), ed, seed, der(0x81, [1], Sample.half)), pkcs8),
            (D.sequence(D.integer(1), ed, seed, der(0x81, [0], Sample.seed)), .invalidKey),
            (D.sequence(D.zero, p256, D.octets(inner)), nil),
            (D.sequence(D.zero, p256, D.octets(D.sequence(D.integer(1), D.octets(Array(scalar.dropLast()))))), nil),
            (D.sequence(D.zero, p256, D.octets(D.sequence(D.integer(1), D.octets([1])))), pkcs8),
            (D.sequence(D.zero, p256, D.octets(D.sequence(D.integer(1), D.octets([])))), pkcs8),
            (D.sequence(D.zero, p256, D.octets(inner + [0])), pkcs8),
            (D.sequence(D.zero, D.sequence(D.ec), D.octets(inner)), pkcs8),
            (D.sequence(D.zero, D.sequence(D.ec, D.null), D.octets(inner)), pkcs8),
            (D.sequence(D.zero, D.sequence(D.ec, D.p256, D.null), D.octets(inner)), pkcs8),
            (D.sequence(D.zero, D.sequence(D.ec, D.secp256k1), D.octets(inner)), .unsupportedKey(.pkcs8)),
            (D.sequence(D.zero, D.sequence(D.ec, D.sequence(D.integer(1))), D.octets(inner)), .unsupportedKey(.pkcs8)),
            (D.sequence(D.zero, D.sequence(D.ec, D.p384), D.octets(inner)), pkcs8),
            (D.sequence(D.zero, p256, D.octets(D.sequence(D.integer(2), D.octets(scalar)))), .unsupportedKey(.sec1)),
            (D.sequence(D.zero, p256, D.octets(D.sequence(D.integer(1), D.octets(scalar + [1])))), pkcs8),
            (D.sequence(D.zero, p256, D.octets(D.sequence(D.integer(1), D.octets(zeros)))), .invalidKey),
            (
                D.sequence(
                    D.zero, p256, D.octets(D.sequence(D.integer(1), D.octets([UInt8](repeating: 255, count: 32))))),
                .invalidKey
            ),
            (
                D.sequence(D.zero, p256, D.octets(D.sequence(D.integer(1), D.octets(scalar), der(0xA0, D.p384)))), pkcs8
            ),
            (
                D.sequence(
                    D.zero, p256, D.octets(D.sequence(D.integer(1), D.octets(scalar), der(0xA1, D.bits(point))))),
                .invalidKey
            ),
            (
                D.sequence(
                    D.zero, p256,
                    D.octets(D.sequence(D.integer(1), D.octets(scalar), der(0xA1, D.bits(point, unused: 1))))), pkcs8
            ),
            (D.sequence(D.zero, D.sequence(D.rsa), D.octets(D.sequence())), pkcs8),
            (D.sequence(D.zero, D.sequence(D.rsa, D.null), D.octets(D.sequence())), pkcs8),
            (D.sequence(D.zero, D.sequence(D.rsa, [5, 1, 0]), D.octets(D.sequence())), pkcs8),
            (D.sequence(ed, D.bits(Sample.half + [0])), spki),
            (D.sequence(ed, D.bits(Array(Sample.half.dropLast()))), spki),
            (D.sequence(ed, D.bits(Sample.half, unused: 1)), spki), (D.sequence(ed, [3, 0]), spki),
            (D.sequence(ed, D.bits(Sample.half), D.null), spki), (D.sequence(p256, D.bits(point)), nil),
            (D.sequence(p256, D.bits([0])), .invalidKey),
            (D.sequence(p256, D.bits([7] + point.dropFirst())), .invalidKey),
            (D.sequence(p256, D.bits(point.dropLast() + [point[64] ^ 1])), .invalidKey),
            (D.sequence(p256, D.bits([4] + [UInt8](repeating: 255, count: 64))), .invalidKey),
            (D.sequence(D.sequence(D.rsa, D.null), D.bits(D.sequence(D.integer(1), D.integer(3)))), .invalidKey),
        ]
        #expect(cases.count >= 32)
        for (bytes, error) in cases { #expect(problem(bytes) == error, "\(Hex.encode(bytes))") }
    }

    @Test("a number without its leading zeros is the same key")
    func shortNumber() throws {
        let key = { (scalar: [UInt8]) in
            D.sequence(D.zero, D.sequence(D.ec, D.p256), D.octets(D.sequence(D.integer(1), D.octets(scalar))))
        }
        let number = [UInt8](repeating: 7, count: 31)
        let short = try KeyFile(secret(key(number))).privateKey().publicKey().spki()
        #expect(try short == KeyFile(secret(key([0] + number))).privateKey().publicKey().spki())
        #expect(try short != KeyFile(secret(key(number + [0]))).privateKey().publicKey().spki())
    }

    @Test("a certificate is told apart from a key")
    func certificate() {
        let names = [D.sequence(), D.sequence(), D.sequence(), D.sequence()].flatMap { $0 }
        let der = D.sequence(D.sequence(D.integer(1), names, Sample.spki), D.sequence(), D.bits([0]))
        #expect(problem(der) == .certificateInsteadOfKey)
        #expect(problem(Sample.long("CERTIFICATE", der)) == .certificateInsteadOfKey)
    }

    @Test("an Ed25519 key of low or mixed order, off its curve or in another spelling is refused")
    func edwardsPoints() throws {
        let number = { (first: UInt8, rest: UInt8, last: UInt8) in
            [first] + [UInt8](repeating: rest, count: 30) + [last]
        }
        // Orders 1, 2, 4 and 8 (RFC 8032 section 5.1.7 multiplies by the cofactor), then y = p, p + 1 and 2^255 − 1, with and
        // without x's sign, y = 2, which belongs to no point, and a point of order 8 added to a good point.
        let eight = try Hex.decode("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a")
        let other = try Hex.decode("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05")
        let refused: [[UInt8]] = [
            number(1, 0, 0), number(0xEC, 0xFF, 0x7F), number(0, 0, 0), number(0, 0, 0x80), eight, other,
            eight.dropLast() + [0xFA], other.dropLast() + [0x85], number(0xED, 0xFF, 0x7F), number(0xEE, 0xFF, 0x7F),
            number(0xFF, 0xFF, 0x7F), number(0xFF, 0xFF, 0xFF), number(1, 0, 0x80), number(2, 0, 0),
            try Hex.decode("cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d"),
        ]
        for point in refused {
            #expect(throws: CryptoError.invalidKey, "\(Hex.encode(point))") { _ = try PublicKey(ed25519: point) }
            #expect(problem(D.sequence(D.sequence(D.ed25519), D.bits(point))) == .invalidKey)
        }
        #expect(try PublicKey(ed25519: Sample.half).rawBytes == Sample.half)
    }

    @Test("a point of low order allows no agreement and no sealing")
    func montgomeryPoints() throws {
        let mine = try PrivateKey.generate(.x25519)
        for point in [[UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31)] {
            let theirs = try PublicKey(x25519: point)
            #expect(throws: CryptoError.invalidKey) { _ = try mine.agree(with: theirs) }
            #expect(throws: CryptoError.invalidKey) { _ = try theirs.seal(secret([1])) }
        }
    }

    @Test("RSA numbers that are out of bounds or do not belong together are refused")
    func rsaNumbers() throws {
        let odd: (Int) -> [UInt8] = { count in [0x80] + [UInt8](repeating: 0, count: count - 2) + [1] }
        let refused: [([UInt8], [UInt8])] = [
            (odd(63), [1, 0, 1]), (odd(2049), [1, 0, 1]), (odd(256).dropLast() + [2], [1, 0, 1]), (odd(256), [1]),
            (odd(256), [2]), (odd(256), [1, 0, 0]), (odd(256), odd(33)), (odd(512), odd(9)), ([], [3]), (odd(256), []),
        ]
        for (modulus, exponent) in refused {
            #expect(throws: CryptoError.invalidKey) { _ = try PublicKey(rsaModulus: modulus, exponent: exponent) }
        }
        #expect(try PublicKey(rsaModulus: odd(2048), exponent: [1, 0, 1]).kind == .rsa(bits: 16384))
        // Each number of a real key in turn, changed by 2 so that it stays odd.
        let der = try Sample.rsa.key.unencryptedPKCS1().array()
        #expect(problem(der) == nil)
        var position = 4 + 3
        for index in 0..<8 {
            let (start, count) = element(der, position)
            position = start + count
            var changed = der
            changed[position - 1] ^= 2
            #expect(problem(changed) == .invalidKey, "number \(index)")
        }
        #expect(position == der.count)
    }

    /// The start of the content of the element at `position`, and its length.
    private func element(_ der: [UInt8], _ position: Int) -> (Int, Int) {
        let first = Int(der[position + 1])
        guard first >= 0x80 else { return (position + 2, first) }
        let digits = first & 0x7F
        return (
            position + 2 + digits, der[position + 2..<position + 2 + digits].reduce(0) { $0 << 8 | Int($1) }
        )
    }

    @Test("every truncation and every changed byte of a key is refused or gives another key, without a crash")
    func noise() throws {
        let original = try Sample.p256.key.unencryptedPKCS8().array()
        let mine = try Sample.p256.key.publicKey().fingerprint()
        for count in 0..<original.count { #expect(problem(Array(original.prefix(count))) != nil) }
        for index in original.indices {
            for bit in 0..<8 {
                var changed = original
                changed[index] ^= 1 << bit
                guard problem(changed) == nil else { continue }
                #expect(try KeyFile(secret(changed)).privateKey().publicKey().fingerprint() != mine, "\(index).\(bit)")
            }
        }
    }
}
