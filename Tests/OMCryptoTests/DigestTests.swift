import OMCrypto
import OMSecrets
import Testing

@Suite struct DigestTests {
    @Test("a message has one digest, in pieces, whole or secret, with one context or many")
    func pieces() throws {
        for algorithm in DigestAlgorithm.allCases {
            var reused = try Digest(algorithm)
            for count in [0, 1, 63, 64, 65, 127, 128, 129, 1000] {
                let message = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
                let whole = try Digest.of(message, algorithm)
                #expect(whole.count == algorithm.count)
                for start in stride(from: 0, to: count, by: 17) {
                    reused.update(Array(message[start..<min(start + 17, count)]).span)
                }
                #expect(reused.finish() == whole)
                let secret = try Digest.of(SecretBytes(copying: message), algorithm)
                let secretDigest = secret.withBytes { bytes in bytes.indices.map { bytes[$0] } }
                #expect(secretDigest == whole)
            }
        }
    }

    @Test("an algorithm has its short name and its SDK name in any case, and no other")
    func names() throws {
        for algorithm in DigestAlgorithm.allCases {
            for name in [
                algorithm.name, algorithm.sdkName, algorithm.name.uppercased(), algorithm.sdkName.lowercased(),
            ] {
                #expect(try DigestAlgorithm(named: name) == algorithm)
            }
        }
        for (name, algorithm) in [
            ("SHA2-256", .sha256), ("SHA2-512/224", .sha512_224), ("SHA-512/256", .sha512_256), ("SHA3-256", .sha3_256),
            ("blake2b", .blake2b512), ("BLAKE2b-256", .blake2b256),
        ] as [(String, DigestAlgorithm)] {
            #expect(try DigestAlgorithm(named: name) == algorithm)
        }
        for name in ["", "sha", "sha-", "sha2", "sha3", "SHA3-128", "SaltedSHA-256", " sha256", "sha256\0"] {
            #expect(throws: CryptoError.unknownAlgorithm) { try DigestAlgorithm(named: name) }
        }
    }

    @Test("only MD5 and SHA-1 are called insecure")
    func insecure() {
        #expect(DigestAlgorithm.allCases.filter(\.isInsecure) == [.insecureMD5, .insecureSHA1])
    }
}
