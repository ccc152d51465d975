import OMSecrets
import Testing

@Suite("Sealing") struct AEADTests {
    private let place = Context(.record, .bytes([1, 2, 3]), .number(7))

    @Test("a box opens with its key and its context")
    func opens() throws {
        let key = Key<Sealing>.random()
        for count in [0, 1, 16, 4096] {
            let message = SecretBytes.random(count)
            let box = AEAD.seal(message, using: key, context: place)
            #expect(box.bytes.count == count + SealedBox.overhead)
            #expect(try AEAD.open(box, using: key, context: place).exposed == message.exposed)
        }
    }

    @Test("another key, another context, a flipped bit, and a lost or added byte are refused")
    func refuses() {
        let key = Key<Sealing>.random()
        let box = AEAD.seal(SecretBytes("attack at dawn"), using: key, context: place)
        #expect(
            refusal { () throws(SecretsError) in
                _ = try AEAD.open(box, using: Key<Sealing>.random(), context: place)
            } == .cannotOpen)
        for other in [
            Context(.record), Context(.name, .bytes([1, 2, 3]), .number(7)),
            Context(.record, .bytes([1, 2, 3]), .number(8)), Context(.record, .number(7), .bytes([1, 2, 3])),
        ] {
            #expect(
                refusal { () throws(SecretsError) in
                    _ = try AEAD.open(box, using: key, context: other)
                } == .cannotOpen)
        }
        for index in box.bytes.indices {
            for bit in 0..<8 {
                var changed = box.bytes
                changed[index] ^= 1 << UInt8(bit)
                #expect(opening(changed, key) == .cannotOpen, "byte \(index), bit \(bit)")
            }
        }
        for count in 0..<box.bytes.count { #expect(opening(Array(box.bytes.prefix(count)), key) == .cannotOpen) }
        #expect(opening(box.bytes + [0], key) == .cannotOpen)
    }

    @Test("two boxes of one message share neither nonce nor ciphertext")
    func freshNonce() {
        let key = Key<Sealing>.random()
        let one = AEAD.seal(SecretBytes("same"), using: key, context: place)
        let other = AEAD.seal(SecretBytes("same"), using: key, context: place)
        #expect(one.bytes.prefix(24) != other.bytes.prefix(24))
        #expect(one.bytes.dropFirst(24) != other.bytes.dropFirst(24))
    }

    @Test("draft-irtf-cfrg-xchacha-03, A.3.1")
    func published() throws {
        let key = SecretBytes(hex: "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f")
        let nonce = bytes("404142434445464748494a4b4c4d4e4f5051525354555657")
        let data = bytes("50515253c0c1c2c3c4c5c6c7")
        let message = """
            Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, \
            sunscreen would be it.
            """
        let expected = bytes(
            """
            bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb731c7f1b0b4aa6440bf3a82f4eda7e39
            ae64c6708c54c216cb96b72e1213b4522f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff9
            21f9664c97637da9768812f615c68b13b52ec0875924c1c7987947deafd8780acf49
            """)
        let box = AEAD.sealRaw(SecretBytes(message), key, nonce: nonce, associatedData: data)
        #expect(box == nonce + expected)
        #expect(try AEAD.openRaw(box, key, associatedData: data).exposed == SecretBytes(message).exposed)
    }

    @Test("a wrapped key opens the key's own boxes, and only under its wrapping key and context")
    func wrapping() throws {
        let wrapping = Key<Wrapping>.random()
        let sealing = Key<Sealing>.random()
        let box = wrapping.wrap(sealing, context: place)
        let unwrapped = try wrapping.unwrap(box, context: place, as: Sealing.self)
        let sealed = AEAD.seal(SecretBytes("hello"), using: sealing, context: place)
        #expect(try AEAD.open(sealed, using: unwrapped, context: place).exposed == SecretBytes("hello").exposed)
        #expect(
            refusal { () throws(SecretsError) in
                _ = try wrapping.unwrap(box, context: Context(.name), as: Sealing.self)
            } == .cannotOpen)
        #expect(
            refusal { () throws(SecretsError) in
                _ = try Key<Wrapping>.random().unwrap(box, context: place, as: Sealing.self)
            } == .cannotOpen)
    }

    @Test("a key of any other length than 32 bytes is refused", arguments: [0, 16, 31, 33, 64])
    func keyLength(count: Int) {
        #expect(
            refusal { () throws(SecretsError) in
                _ = try Key<Sealing>(readFrom: SecretBytes(count: count) { _ in })
            } == .cannotOpen)
    }

    private func opening(_ bytes: [UInt8], _ key: borrowing Key<Sealing>) -> SecretsError? {
        refusal { () throws(SecretsError) in
            _ = try AEAD.open(SealedBox(stored: bytes), using: key, context: place)
        }
    }
}
