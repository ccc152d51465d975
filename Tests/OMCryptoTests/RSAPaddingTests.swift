// PKCS#1 v1.5 with right, wrong and nearly right paddings. An attacker who sends them learns nothing.

import OMCrypto
import OMSecrets
import Testing

@Suite("Unwrapping RSA PKCS#1 v1.5") struct RSAPaddingTests {
    private let key = [UInt8](1...32)

    private func wrap(_ secret: [UInt8]) throws -> [UInt8] {
        try Insecure.wrapPKCS1(SecretBytes(copying: secret), for: Sample.rsa.key.publicKey())
    }

    private func unwrap(_ wrapped: [UInt8], _ count: Int = 32) throws -> [UInt8] {
        try Sample.rsa.key.unwrapPKCS1(wrapped, count: count).array()
    }

    @Test("a secret of the requested length comes back", arguments: [0, 1, 16, 32, 245])
    func right(count: Int) async throws {
        let secret = [UInt8](repeating: 0, count: count / 2) + [UInt8](repeating: 9, count: count - count / 2)
        #expect(try unwrap(wrap(secret), count) == secret)
    }

    @Test("a wrong padding or secret length gives as many bytes as requested, always the same ones")
    func wrong() async throws {
        var wrong: [(String, [UInt8])] = [
            ("a secret that is one byte shorter", try wrap(Array(key.dropLast()))),
            ("a secret that is one byte longer", try wrap(key + [33])),
            ("no secret", try wrap([])),
            // A reader that looks for the last zero, and not for the first, finds the key here.
            ("a zero in the padding", try wrap([1, 2, 0, 3, 0] + key)),
            ("a zero right before the key", try wrap([0] + key)),
        ]
        for number in 0..<8 {
            let other = try Sample.rsa.key.publicKey().wrap(SecretBytes(copying: key))
            wrong.append(("OAEP \(number)", other))
            // This number is below every modulus of this length.
            wrong.append(("random bytes \(number)", [0x40] + Random.bytes(255)))
        }
        var changed = try wrap(key)
        changed[255] ^= 1
        if changed[0] < 0x80 { wrong.append(("a changed bit", changed)) }
        var seen: Set<[UInt8]> = [key]
        for (what, wrapped) in wrong {
            let found = try unwrap(wrapped)
            #expect(found.count == 32 && seen.insert(found).inserted, "\(what)")
            #expect(try unwrap(wrapped) == found, "\(what)")
            #expect(try unwrap(wrapped, 245).count == 245, "\(what)")
        }
    }

    @Test("errors that need no key are reported: another length of the ciphertext, and no room for a padding")
    func refused() async throws {
        let wrapped = try wrap(key)
        for bytes in [[], Array(wrapped.dropLast()), wrapped + [0], [UInt8](repeating: 0xFF, count: 256)] {
            #expect(throws: CryptoError.cannotUnwrap) { try unwrap(bytes) }
        }
        for count in [-1, 246, 4096] { #expect(throws: CryptoError.inputTooLong) { try unwrap(wrapped, count) } }
        #expect(throws: CryptoError.wrongKeyType) { _ = try Sample.p256.key.unwrapPKCS1(wrapped, count: 32) }
    }
}
