import Testing

@testable import OMSecrets

@Suite("Derived keys, MACs and contexts") struct DerivationTests {
    @Test("RFC 5869, A.1 to A.3")
    func hkdf() {
        let basic = SecretBytes(copying: [UInt8](repeating: 0x0b, count: 22))
        #expect(
            HKDF.deriveBytes(
                from: basic, salt: bytes("000102030405060708090a0b0c").span, info: bytes("f0f1f2f3f4f5f6f7f8f9"),
                count: 42
            ).hex == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865")
        #expect(
            HKDF.deriveBytes(
                from: SecretBytes(copying: Array(0x00...0x4f)), salt: Array<UInt8>(0x60...0xaf).span,
                info: Array(0xb0...0xff), count: 82
            ).exposed
                == bytes(
                    """
                    b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09
                    da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87
                    """))
        #expect(
            HKDF.deriveBytes(from: basic, salt: nil, info: [], count: 42).hex
                == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8")
    }

    @Test(
        "RFC 4231, cases 1 to 4, 6 and 7",
        arguments: [
            (
                [UInt8](repeating: 0x0b, count: 20), Array("Hi There".utf8),
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                [UInt8](repeating: 0xaa, count: 20), [UInt8](repeating: 0xdd, count: 50),
                "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
            ),
            (
                Array(0x01...0x19), [UInt8](repeating: 0xcd, count: 50),
                "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
            ),
            (
                [UInt8](repeating: 0xaa, count: 131),
                Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
            (
                [UInt8](repeating: 0xaa, count: 131),
                Array(
                    ("This is a test using a larger than block-size key and a larger than block-size data. "
                        + "The key needs to be hashed before being used by the HMAC algorithm.").utf8),
                "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
            ),
        ])
    func hmac(key: [UInt8], message: [UInt8], expected: String) {
        #expect(HMACSHA256.tag(keyBytes: key.span) { $0(message.span) }.hex == expected)
        let inPieces = HMACSHA256.tag(keyBytes: key.span) { update in message.forEach { update([$0].span) } }
        #expect(inPieces.hex == expected)
    }

    @Test("every label is unique and fits its length byte")
    func labels() {
        #expect(Set(Label.allCases.map(\.rawValue)).count == Label.allCases.count)
        #expect(Label.allCases.allSatisfy { (1...255).contains($0.rawValue.utf8.count) })
    }

    @Test("contexts that differ in any way are different bytes")
    func injective() {
        let values: [Context.Field] = [
            .bytes([]), .bytes([0]), .bytes([0, 0]), .bytes([0, 0, 0, 0, 0, 0, 0, 0]), .bytes(Array("a".utf8)),
            .text(""), .text("a"), .text("aa"), .number(0), .number(1), .number(.max),
            .bytes([2, 0, 0, 0, 0, 0, 0, 0, 0]), .bytes([1, 0, 0, 0, 0, 0, 0, 0, 0]),
        ]
        var lists: [[Context.Field]] = [[]]
        lists += values.map { [$0] }
        lists += values.flatMap { one in values.map { [one, $0] } }
        lists += values.flatMap { one in values.flatMap { two in values.map { [one, two, $0] } } }
        var seen = Set<[UInt8]>()
        for label in [Label.record, .recordKey, .recoveryChecksum] {
            for fields in lists { seen.insert(Context(label, fields).encoded) }
        }
        #expect(seen.count == 3 * lists.count)
    }

    @Test("the encoding of a context is the documented one")
    func encoding() {
        let context = Context(.name, .bytes([9]), .number(258), .text("é"))
        #expect(
            context.encoded
                == [8] + Array("omv/name".utf8)
                + [1, 0, 0, 0, 0, 0, 0, 0, 1, 9] + [2, 0, 0, 0, 0, 0, 0, 1, 2] + [
                    3, 0, 0, 0, 0, 0, 0, 0, 2, 0xC3, 0xA9,
                ])
    }

    @Test("every label, every field and a mixed-in key give another key")
    func separation() {
        let root = Key<Deriving>.random()
        let device = Key<Deriving>.random()
        var seen = Set<[UInt8]>()
        for label in Label.allCases { seen.insert(root.fingerprint(Context(label))) }
        for number in UInt64(0)..<100 { seen.insert(root.fingerprint(Context(.record, .number(number)))) }
        seen.insert(root.derive(Context(.record), mixing: device, as: Sealing.self).bytes.exposed)
        seen.insert(root.derive(Context(.record), mixing: root, as: Sealing.self).bytes.exposed)
        #expect(seen.count == Label.allCases.count + 102)
    }

    @Test("a derived key is the HKDF of its context")
    func derivedKey() {
        let root = Key<Deriving>.random()
        let context = Context(.classWrapKey, .number(3))
        let expected = HKDF.deriveBytes(from: root.bytes, salt: nil, info: context.encoded)
        #expect(root.derive(context, as: Wrapping.self).bytes.exposed == expected.exposed)
        #expect(root.fingerprint(context) == expected.exposed)
    }

    @Test("a commitment fits its key and its header only")
    func commitment() {
        let key = Key<Unlocking>.random()
        let header: [UInt8] = [1, 2, 3]
        let commitment = key.commitment(to: header)
        #expect(refusal { () throws(SecretsError) in try key.check(commitment, to: header) } == nil)
        #expect(refusal { () throws(SecretsError) in try key.check(commitment, to: [1, 2]) } == .cannotOpen)
        #expect(
            refusal { () throws(SecretsError) in try Key<Unlocking>.random().check(commitment, to: header) }
                == .cannotOpen)
        #expect(refusal { () throws(SecretsError) in try key.check([], to: header) } == .cannotOpen)
        for index in commitment.indices {
            var changed = commitment
            changed[index] ^= 1
            #expect(refusal { () throws(SecretsError) in try key.check(changed, to: header) } == .cannotOpen)
        }
    }

    @Test("a MAC fits its message, key and context only")
    func mac() {
        let key = Key<Authenticating>.random()
        let context = Context(.headerMAC, .number(1))
        let tag = MAC.tag(of: [1, 2], using: key, context: context)
        #expect(tag.count == MAC.count)
        #expect(
            refusal { () throws(SecretsError) in
                try MAC.check(tag, of: [1, 2], using: key, context: context)
            } == nil)
        #expect(
            refusal { () throws(SecretsError) in
                try MAC.check(tag, of: [1, 3], using: key, context: context)
            } == .cannotOpen)
        #expect(
            refusal { () throws(SecretsError) in
                try MAC.check(tag, of: [1, 2], using: key, context: Context(.headerMAC, .number(2)))
            } == .cannotOpen)
        #expect(
            refusal { () throws(SecretsError) in
                try MAC.check(tag, of: [1, 2], using: Key<Authenticating>.random(), context: context)
            } == .cannotOpen)
        #expect(
            refusal { () throws(SecretsError) in
                try MAC.check(Array(tag.dropLast()), of: [1, 2], using: key, context: context)
            } == .cannotOpen)
    }

    @Test("a keyed hash depends on message, key and context")
    func keyedHash() {
        let key = Key<Hashing>.random()
        let hashes = [
            KeyedHash.hash([1], using: key, context: Context(.name)),
            KeyedHash.hash([2], using: key, context: Context(.name)),
            KeyedHash.hash([1], using: key, context: Context(.treeLeaf)),
            KeyedHash.hash([1], using: Key<Hashing>.random(), context: Context(.name)),
        ]
        #expect(Set(hashes).count == 4)
        #expect(KeyedHash.hash([1], using: key, context: Context(.name)) == hashes[0])
    }
}
