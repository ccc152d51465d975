// Tests of the code in docs/guide/toolkit-from-swift.md.

import OMCrypto
import OMSecrets
import Testing

@Suite("The toolkit's example") struct ToolkitExampleTests {
    private func password(_ text: String) throws -> Password { try Password(SecretBytes(copying: Array(text.utf8))) }

    @Test("the example hashes, stores a password, encrypts and signs, and refuses wrong input")
    func course() throws {
        #expect(
            try sha256(of: Array("abc".utf8)) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")

        let stored = try storedHash(of: password("right"))
        #expect(stored.hasPrefix("$argon2id$"))
        #expect(try isRight(password("right"), for: stored))
        #expect(try !isRight(password("wrong"), for: stored))

        let message = Array("hello".utf8)
        var file = try encrypt(message, password("right"))
        #expect(try decrypt(file, password("right")) == message)
        #expect(throws: CryptoError.wrongFileKey) { _ = try decrypt(file, password("wrong")) }
        file[file.count - 1] ^= 1
        #expect(throws: CryptoError.damagedContainer) { _ = try decrypt(file, password("right")) }

        let (signature, spki) = try signed(message, .generate(.ed25519))
        try check(signature, of: message, spki)
        #expect(throws: CryptoError.badSignature) { try check(signature, of: message + [33], spki) }
    }
}
