// Authenticated ciphers: AES-GCM, ChaCha20-Poly1305, XChaCha20-Poly1305.

internal import OMCrypto
internal import OMSecrets

/// Opens and seals. For an invalid case, only the opening counts.
struct AEADCheck: VectorCheck {
    let algorithm: AEADAlgorithm
    let key: [UInt8]
    let nonce: [UInt8]
    let associatedData: [UInt8]
    let message: [UInt8]
    let ciphertext: [UInt8]
    /// A tag of AES-GCM may be cut.
    let tag: [UInt8]
    /// The length in bytes that the group announces.
    let tagCount: Int
    let expectation: Expectation

    func run() -> CheckOutcome {
        guard tag.count == tagCount else { return .refused("the tag has not \(tagCount) bytes") }
        let key = SecretBytes(copying: key)
        let message = SecretBytes(copying: message)
        do {
            let opened = try Insecure.open(
                ciphertext, shortTag: tag, algorithm, key: key, nonce: nonce, associatedData: associatedData)
            guard expectation != .invalid else { return .agrees }
            guard opened.isEqual(to: message) else { return .differs("the opened message is another") }
            let sealed = try AuthenticatedCipher.seal(
                message, algorithm, key: key, nonceNeverUsedBefore: nonce, associatedData: associatedData)
            return sealed.ciphertext == ciphertext && Array(sealed.tag.prefix(tagCount)) == tag
                ? .agrees : .differs("the sealed bytes are others")
        } catch {
            return .refused("\(error)")
        }
    }
}

enum AEADKinds {
    static let all = [wycheproof, native, cavpEncrypt, cavpDecrypt, acvp, text, boringText]

    private static let algorithms: [String: AEADAlgorithm] = [
        "AES-GCM": .aesGCM, "CHACHA20-POLY1305": .chacha20Poly1305, "XCHACHA20-POLY1305": .xchacha20Poly1305,
    ]

    // MARK: JSON

    private static let wycheproof = VectorKind.wycheproof("AeadTest") { (group) throws(UnreadableFile) in
        guard let algorithm = algorithms[group.algorithm] else { return nil }
        let parameters = group.parameters
        return json(
            algorithm, keyBits: try parameters.number("keySize"), ivBits: try parameters.number("ivSize"),
            tagBits: try parameters.number("tagSize"))
    }

    private static let native = VectorKind.native(
        "aead", params: ["alg", "tagBits", "ivBits"], test: ["key", "iv", "aad", "msg", "ct", "tag"]
    ) { (group) throws(UnreadableFile) in
        let parameters = group.parameters
        guard let algorithm = algorithms[try parameters.text("alg")] else { return nil }
        return json(
            algorithm, keyBits: nil, ivBits: try parameters.number("ivBits"),
            tagBits: try parameters.number("tagBits"))
    }

    private static func json(_ algorithm: AEADAlgorithm, keyBits: Int?, ivBits: Int, tagBits: Int) -> GroupPlan {
        guard tagBits % 8 == 0, tagBits == 128 || algorithm == .aesGCM && (32...128).contains(tagBits) else {
            return .skip("tags of \(tagBits) bits")
        }
        return .each(flips: ["key", "iv", "aad", "msg", "ct", "tag"]) { (test, expectation) throws(UnreadableFile) in
            let key = try test.bytes("key")
            guard algorithm.keyCounts.contains(key.count), keyBits == nil || key.count * 8 == keyBits else {
                throw test.wrong("key", "\(keyBits.map { $0 / 8 } ?? 32) bytes")
            }
            let nonce = try test.bytes("iv")
            // A case may be invalid because of its nonce.
            guard nonce.count * 8 == ivBits || expectation == .invalid else {
                throw test.wrong("iv", "\(ivBits / 8) bytes")
            }
            return .run(
                AEADCheck(
                    algorithm: algorithm, key: key, nonce: nonce, associatedData: try test.bytes("aad"),
                    message: expectation == .invalid && test.isNull("msg") ? [] : try test.bytes("msg"),
                    ciphertext: try test.bytes("ct"), tag: try test.bytes("tag"), tagCount: tagBits / 8,
                    expectation: expectation))
        }
    }

    // MARK: CAVP

    private static let cavpEncrypt = VectorKind.text(
        TextLayout(
            name: "AES GCM", matches: { holds($0, "Encrypt") }, shapes: ["COUNT Key IV PT AAD CT Tag"]), cavp)

    private static let cavpDecrypt = VectorKind.text(
        TextLayout(
            name: "AES GCM", matches: { holds($0, "Decrypt") }, shapes: ["COUNT Key IV CT AAD Tag PT|FAIL"]), cavp)

    private static func holds(_ head: TextHeader, _ direction: String) -> Bool {
        let titles = head.comments.filter { $0.hasPrefix("GCM ") }
        if !titles.isEmpty { return titles.contains { $0.hasPrefix("GCM \(direction) ") } }
        return !head.isCAVS && head.fileName.hasPrefix("gcm\(direction)")
    }

    private static let cavp: VectorKind.Planner = { (group) throws(UnreadableFile) in
        let lengths = group.parameters
        for name in ["Keylen", "IVlen", "PTlen", "AADlen", "Taglen"] {
            guard lengths.has(name) else { throw UnreadableFile("\(lengths.place): a record before [\(name) = …]") }
            guard try lengths.number(name) % 8 == 0 else { return .skip("lengths of part of a byte") }
        }
        guard (32...128).contains(try lengths.number("Taglen")) else {
            return .skip("tags of other than 4 to 16 bytes")
        }
        return .each(flips: ["Key", "IV", "PT", "AAD", "CT", "Tag"]) { (record, expectation) throws(UnreadableFile) in
            let field = { (name: String, length: String) throws(UnreadableFile) in
                try record.bytes(name, count: try lengths.number(length) / 8)
            }
            let tag = try field("Tag", "Taglen")
            return .run(
                AEADCheck(
                    algorithm: .aesGCM, key: try field("Key", "Keylen"), nonce: try field("IV", "IVlen"),
                    associatedData: try field("AAD", "AADlen"),
                    message: expectation == .invalid ? [] : try field("PT", "PTlen"),
                    ciphertext: try field("CT", "PTlen"), tag: tag, tagCount: tag.count, expectation: expectation))
        }
    }

    // MARK: ACVP

    private static let acvp = VectorKind.acvp(["ACVP-AES-GCM"]) { (group) throws(UnreadableFile) in
        let parameters = group.parameters
        guard group.type == "AFT" else { return .skip("ACVP test type \(group.type.prefix(20))") }
        for name in ["tagLen", "payloadLen", "aadLen", "ivLen"] where parameters.has(name) {
            guard try parameters.number(name) % 8 == 0 else { return .skip("lengths of part of a byte") }
        }
        let (tagCount, keyCount) = (try parameters.number("tagLen") / 8, try parameters.number("keyLen") / 8)
        return .each(flips: ["key", "iv", "aad", "pt", "ct", "tag"]) { (test, expectation) throws(UnreadableFile) in
            // In such tests the tested module makes the nonce, and the results list it.
            guard test.has("iv") else { return .skip("nonces that the tested module makes") }
            return .run(
                AEADCheck(
                    algorithm: .aesGCM, key: try test.bytes("key", count: keyCount), nonce: try test.bytes("iv"),
                    associatedData: try test.bytes("aad"),
                    message: expectation == .invalid ? [] : try test.bytes("pt"), ciphertext: try test.bytes("ct"),
                    tag: try test.bytes("tag", count: tagCount), tagCount: tagCount, expectation: expectation))
        }
    }

    // MARK: OpenSSL's vectors, from Python's `cryptography`

    private static let text = VectorKind.text(
        TextLayout(
            name: "ChaCha20-Poly1305",
            matches: {
                $0.startsWith(["COUNT", "Key", "IV", "AAD", "Tag", "Plaintext", "Ciphertext"])
                    && $0.foreignAlgorithm == nil
            },
            shapes: ["COUNT Key IV AAD Tag Plaintext Ciphertext Result?"])
    ) { _ in
        .each(flips: ["Key", "IV", "AAD", "Tag", "Plaintext", "Ciphertext"]) {
            (record, expectation) throws(UnreadableFile) in
            .run(
                AEADCheck(
                    algorithm: .chacha20Poly1305, key: try record.bytes("Key", count: 32),
                    nonce: try record.quotedBytes("IV"), associatedData: try record.quotedBytes("AAD"),
                    message: try record.quotedBytes("Plaintext"), ciphertext: try record.bytes("Ciphertext"),
                    tag: try record.bytes("Tag"), tagCount: AuthenticatedCipher.tagCount, expectation: expectation))
        }
    }

    /// BoringSSL's vectors, from Python's `cryptography`.
    private static let boringText = VectorKind.text(
        TextLayout(
            name: "ChaCha20-Poly1305",
            matches: {
                $0.startsWith(["COUNT", "KEY", "NONCE", "IN", "AD", "CT", "TAG"]) && $0.foreignAlgorithm == nil
            }, shapes: ["COUNT KEY NONCE IN AD CT TAG"])
    ) { _ in
        .each(flips: ["KEY", "NONCE", "IN", "AD", "CT", "TAG"]) { (record, expectation) throws(UnreadableFile) in
            let tag = try record.quotedBytes("TAG")
            guard tag.count == AuthenticatedCipher.tagCount else { return .skip("tags of \(tag.count * 8) bits") }
            return .run(
                AEADCheck(
                    algorithm: .chacha20Poly1305, key: try record.bytes("KEY", count: 32),
                    nonce: try record.quotedBytes("NONCE"), associatedData: try record.quotedBytes("AD"),
                    message: try record.quotedBytes("IN"), ciphertext: try record.quotedBytes("CT"), tag: tag,
                    tagCount: tag.count, expectation: expectation))
        }
    }
}
