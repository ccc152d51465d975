import OMCrypto
import OMSecrets
import Testing

@Suite struct BlockCipherTests {
    private let iv = [UInt8](repeating: 0, count: 16)

    private func key(_ count: Int) -> SecretBytes { SecretBytes(copying: (0..<count).map { UInt8($0) }) }

    private func encrypt(_ message: [UInt8], keyCount: Int, padding: BlockPadding = .pkcs7) throws -> [UInt8] {
        try BlockCipher.encrypt(
            SecretBytes(copying: message), unauthenticated: .aesCBC, key: key(keyCount), iv: iv, padding: padding)
    }

    private func decrypt(_ ciphertext: [UInt8], keyCount: Int, padding: BlockPadding = .pkcs7) throws -> SecretBytes {
        try BlockCipher.decrypt(ciphertext, unauthenticated: .aesCBC, key: key(keyCount), iv: iv, padding: padding)
    }

    private func bytes(_ secret: consuming SecretBytes) -> [UInt8] {
        secret.withBytes { bytes in bytes.indices.map { bytes[$0] } }
    }

    @Test("the ciphers write and read the SDK's own ciphertexts")
    func sdk() throws {
        let message = Array("secret message".utf8)
        for (count, expected) in [(24, "LdUajhLon9cUytt6Ts795g=="), (32, "98M4sUT7o/PVXeZB2MKFTw==")] {
            #expect(try Base64.encode(encrypt(message, keyCount: count)) == expected)
            #expect(try bytes(decrypt(Base64.decode(expected), keyCount: count)) == message)
        }
    }

    @Test("messages of every length around a block come back, whole or in pieces")
    func lengths() throws {
        for keyCount in [16, 24, 32] {
            for count in 0...50 {
                let message = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }
                let ciphertext = try encrypt(message, keyCount: keyCount)
                #expect(ciphertext.count == (count / 16 + 1) * 16)
                #expect(try bytes(decrypt(ciphertext, keyCount: keyCount)) == message)
                var cipher = try BlockCipher(
                    .encrypt, unauthenticated: .aesCBC, key: key(keyCount), iv: iv, padding: .pkcs7)
                var pieces = SecretBuffer()
                for byte in message { pieces.append(try cipher.update([byte].span)) }
                pieces.append(try cipher.finish())
                #expect(bytes(pieces.finish()) == ciphertext)
            }
        }
    }

    @Test("a cut, lengthened, empty or changed ciphertext gives one error")
    func damage() throws {
        let ciphertext = try encrypt(Array("secret message".utf8), keyCount: 16)
        var changed = ciphertext
        changed[15] ^= 1
        for damaged in [[], Array(ciphertext.dropLast()), ciphertext + [0], changed, [UInt8](repeating: 0, count: 16)] {
            #expect(throws: CryptoError.cannotDecrypt) { _ = try decrypt(damaged, keyCount: 16) }
        }
        #expect(throws: CryptoError.cannotDecrypt) { _ = try decrypt([1, 2, 3], keyCount: 16, padding: .none) }
    }

    @Test("without padding only whole blocks are encrypted")
    func wholeBlocks() throws {
        #expect(try encrypt([], keyCount: 16, padding: .none).isEmpty)
        #expect(try encrypt([UInt8](repeating: 1, count: 32), keyCount: 16, padding: .none).count == 32)
        #expect(throws: CryptoError.notWholeBlocks) { _ = try encrypt([1], keyCount: 16, padding: .none) }
    }

    @Test("keys and IVs of other lengths are refused")
    func lengthsOfParameters() {
        for count in [0, 1, 15, 17, 23, 25, 31, 33, 64] {
            #expect(throws: CryptoError.keyLength) { _ = try encrypt([], keyCount: count) }
        }
        for count in [0, 8, 15, 17, 32] {
            let iv = [UInt8](repeating: 0, count: count)
            #expect(throws: CryptoError.ivLength) {
                _ = try BlockCipher(.encrypt, unauthenticated: .aesCBC, key: key(16), iv: iv, padding: .none)
            }
        }
    }
}
