import OMCrypto
import OMSecrets
import Testing

/// A store in memory that can lose a half.
private struct MemoryStore: KeyPairStore {
    var halves: [String: [UInt8]] = [:]

    func contains(_ name: String) throws(CryptoError) -> Bool { halves[name] != nil }

    func read(_ name: String) throws(CryptoError) -> SecretBytes? {
        guard let bytes = halves[name] else { return nil }
        return SecretBytes(copying: bytes)
    }

    mutating func write(
        _ tag: KeyPairTag, privateHalf: borrowing SecretBytes, publicHalf: borrowing SecretBytes
    ) throws(CryptoError) {
        halves[tag.privateName] = privateHalf.array()
        halves[tag.publicName] = publicHalf.array()
    }

    mutating func delete(_ tag: KeyPairTag) throws(CryptoError) {
        halves[tag.privateName] = nil
        halves[tag.publicName] = nil
    }
}

@Suite struct StoredKeyPairTests {
    private func code(_ body: () throws -> Void) -> Int? {
        do {
            try body()
            return nil
        } catch { return (error as? CryptoError)?.sdkCode }
    }

    @Test("a pair is stored under the SDK's two names, used, and gone when deleted")
    func pair() throws {
        var store = MemoryStore()
        let half = try StoredKeyPair.generate(.rsa(bits: 2048), tag: "signing", in: &store)
        #expect(Set(store.halves.keys) == ["signing.private", "signing.public"])
        #expect(try StoredKeyPair.publicKey(tag: "signing", in: store).spki() == half.spki())
        let key = try StoredKeyPair.privateKey(tag: "signing", in: store)
        for hash in [DigestAlgorithm.insecureSHA1, .sha224, .sha256, .sha384, .sha512] {
            // The SDK signs with the last two but cannot verify them.
            try half.verify(key.sign([1], .legacyRSAPKCS1(hash)), of: [1], .legacyRSAPKCS1(hash))
        }
        try StoredKeyPair.delete(tag: "signing", in: &store)
        #expect(store.halves.isEmpty)
    }

    @Test("errors have the SDK's numbers, in its order")
    func numbers() throws {
        var store = MemoryStore()
        #expect(code { _ = try StoredKeyPair.generate(.ed25519, tag: "", in: &store) } == 10521)
        #expect(code { _ = try StoredKeyPair.generate(.rsa(bits: 512), tag: "", in: &store) } == 10521)
        #expect(code { _ = try StoredKeyPair.generate(.rsa(bits: 512), tag: "a", in: &store) } == 10520)
        #expect(code { _ = try StoredKeyPair.generate(.ed25519, tag: "a", in: &store) } == nil)
        #expect(code { _ = try StoredKeyPair.generate(.ed25519, tag: "a", in: &store) } == 10528)
        #expect(code { _ = try StoredKeyPair.publicKey(tag: "", in: store) } == 10521)
        #expect(code { _ = try StoredKeyPair.publicKey(tag: "b", in: store) } == 10523)
        #expect(code { _ = try StoredKeyPair.privateKey(tag: "b", in: store) } == 10523)
        let key = try StoredKeyPair.privateKey(tag: "a", in: store)
        #expect(code { _ = try key.sign([1], .rsaPSS()) } == 10529)
        #expect(code { try key.publicKey().verify([], of: [1], .ed25519) } == 10525)
        #expect(code { try key.publicKey().verify([1], of: [1], .ed25519) } == 10526)
        #expect(code { _ = try Sample.rsa.key.unwrap([1]) } == 10527)
        #expect(code { _ = try Sample.rsa.key.sign([1], .rsaPSS(salt: .bytes(999))) } == 10524)
        #expect(code { try StoredKeyPair.delete(tag: "", in: &store) } == 10521)
        #expect(code { try StoredKeyPair.delete(tag: "a", in: &store) } == nil)
        #expect(code { try StoredKeyPair.delete(tag: "a", in: &store) } == 10523)
    }

    @Test("a stored pair signs, verifies, wraps and unwraps by its tag, with the SDK's numbers in its order")
    func use() throws {
        var store = MemoryStore()
        _ = try StoredKeyPair.generate(.rsa(bits: 2048), tag: "a", in: &store)
        _ = try StoredKeyPair.generate(.ed25519, tag: "ed", in: &store)
        let scheme = SignatureAlgorithm.legacyRSAPKCS1(.sha384)
        let signature = try StoredKeyPair.sign([1, 2], tag: "a", scheme, in: store)
        try StoredKeyPair.verify(signature, of: [1, 2], tag: "a", scheme, in: store)
        #expect(code { _ = try StoredKeyPair.sign([], tag: "", scheme, in: store) } == 10406)
        #expect(code { _ = try StoredKeyPair.sign([1], tag: "", scheme, in: store) } == 10521)
        #expect(code { _ = try StoredKeyPair.sign([1], tag: "b", scheme, in: store) } == 10523)
        #expect(code { _ = try StoredKeyPair.sign([1], tag: "ed", scheme, in: store) } == 10529)
        let long = SignatureAlgorithm.rsaPSS(salt: .bytes(999))
        #expect(code { _ = try StoredKeyPair.sign([1], tag: "a", long, in: store) } == 10524)
        #expect(code { try StoredKeyPair.verify([], of: [], tag: "", scheme, in: store) } == 10406)
        #expect(code { try StoredKeyPair.verify([], of: [1], tag: "", scheme, in: store) } == 10525)
        #expect(code { try StoredKeyPair.verify([1], of: [1], tag: "", scheme, in: store) } == 10521)
        #expect(code { try StoredKeyPair.verify([1], of: [1], tag: "b", scheme, in: store) } == 10523)
        #expect(code { try StoredKeyPair.verify(signature, of: [1], tag: "a", scheme, in: store) } == 10526)

        let key = [UInt8](repeating: 7, count: 32)
        let wrapped = try StoredKeyPair.wrap(secret(key), tag: "a", OAEP(.insecureSHA1), in: store)
        #expect(try StoredKeyPair.unwrap(wrapped, tag: "a", OAEP(.insecureSHA1), in: store).array() == key)
        let old = try Insecure.wrapPKCS1(secret(key), tag: "a", in: store)
        #expect(try StoredKeyPair.unwrapPKCS1(old, count: 32, tag: "a", in: store).array() == key)
        let longest = [UInt8](repeating: 7, count: 256 - 2 * 20 - 2)
        #expect(code { _ = try StoredKeyPair.wrap(secret(longest), tag: "a", OAEP(.insecureSHA1), in: store) } == nil)
        #expect(
            code { _ = try StoredKeyPair.wrap(secret(longest + [7]), tag: "a", OAEP(.insecureSHA1), in: store) }
                == 10519)
        #expect(code { _ = try StoredKeyPair.wrap(secret([UInt8]()), tag: "", in: store) } == 10406)
        #expect(code { _ = try StoredKeyPair.wrap(secret(key), tag: "", in: store) } == 10521)
        #expect(code { _ = try StoredKeyPair.wrap(secret(key), tag: "b", in: store) } == 10523)
        #expect(code { _ = try StoredKeyPair.wrap(secret(key), tag: "ed", in: store) } == 10529)
        #expect(code { _ = try StoredKeyPair.unwrap([], tag: "", in: store) } == 10406)
        #expect(code { _ = try StoredKeyPair.unwrap(wrapped, tag: "b", in: store) } == 10523)
        #expect(code { _ = try StoredKeyPair.unwrap(wrapped, tag: "ed", in: store) } == 10529)
        #expect(code { _ = try StoredKeyPair.unwrap(wrapped + [0], tag: "a", in: store) } == 10519)
        #expect(code { _ = try StoredKeyPair.unwrap(wrapped, tag: "a", in: store) } == 10527)
        #expect(code { _ = try StoredKeyPair.unwrap(Array(wrapped.dropLast()), tag: "a", in: store) } == 10527)
    }

    @Test("a single remaining half blocks a new pair, and is deleted like a whole pair")
    func orphans() throws {
        for name in ["a.private", "a.public"] {
            var store = MemoryStore(halves: [name: [1]])
            #expect(code { _ = try StoredKeyPair.generate(.ed25519, tag: "a", in: &store) } == 10528)
            try StoredKeyPair.delete(tag: "a", in: &store)
            #expect(store.halves.isEmpty)
        }
    }

    @Test("only the explicitly insecure call makes keys of sizes that can be broken")
    func sizes() throws {
        for bits in [0, 512, 1024, 2047, 2049, 8200, 1 << 20] {
            #expect(throws: CryptoError.cannotGenerate) { _ = try PrivateKey.generate(.rsa(bits: bits)) }
        }
        for bits in [512, 1016, 1025, 2048, 4096] {
            #expect(throws: CryptoError.cannotGenerate) { _ = try Insecure.generateRSA(bits: bits) }
        }
        #expect(try Insecure.generateRSA(bits: 1024).kind == .rsa(bits: 1024))
    }
}
