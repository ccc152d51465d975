import OMCrypto
import OMSecrets
import Testing

@Suite struct WrappingTests {
    @Test("OAEP unwraps only with the same hash, mask and label")
    func oaep() throws {
        let half = try Sample.rsa.key.publicKey()
        let ways = [
            OAEP(), OAEP(.insecureSHA1), OAEP(.sha512, mask: .insecureSHA1), OAEP(.sha256, label: [1, 2, 3]),
            OAEP(.sha384, mask: .sha256, label: [0]),
        ]
        for (index, way) in ways.enumerated() {
            let wrapped = try half.wrap(secret("key"), way)
            #expect(try Sample.rsa.key.unwrap(wrapped, way).text() == "key")
            for (other, wrong) in ways.enumerated() where other != index {
                #expect(throws: CryptoError.cannotUnwrap) { _ = try Sample.rsa.key.unwrap(wrapped, wrong) }
            }
            #expect(throws: CryptoError.cannotUnwrap) { _ = try Sample.rsa.key.unwrap(wrapped + [0], way) }
            #expect(throws: CryptoError.cannotUnwrap) { _ = try Sample.rsa.key.unwrap(Array(wrapped.dropLast()), way) }
            #expect(throws: CryptoError.cannotUnwrap) { _ = try Sample.rsa.key.unwrap([], way) }
        }
    }

    @Test("the longest secret has the standard's length, and one more byte is too long")
    func limits() throws {
        let half = try Sample.rsa.key.publicKey()
        let oaep = 256 - 2 * 32 - 2
        #expect(try Sample.rsa.key.unwrap(half.wrap(SecretBytes.random(oaep))).count == oaep)
        #expect(throws: CryptoError.inputTooLong) { _ = try half.wrap(SecretBytes.random(oaep + 1)) }
        #expect(
            try Sample.rsa.key.unwrapPKCS1(unauthenticated: Insecure.wrapPKCS1(SecretBytes.random(245), for: half)).count
                == 245)
        #expect(throws: CryptoError.inputTooLong) { _ = try Insecure.wrapPKCS1(SecretBytes.random(246), for: half) }
        #expect(try Sample.rsa.key.unwrap(half.wrap(secret(""))).count == 0)
        #expect(CryptoError.inputTooLong.sdkCode == 10519)
        #expect(throws: CryptoError.wrongKeyType) { _ = try Sample.p256.key.publicKey().wrap(secret("key")) }
    }

    @Test("a sealed box opens only unchanged and with its key")
    func sealedBox() throws {
        let (mine, other) = (KeyBox { try .generate(.x25519) }, KeyBox { try .generate(.x25519) })
        let box = try mine.key.publicKey().seal(secret("key"))
        #expect(box.count == 48 + 3)
        #expect(try mine.key.open(sealed: box).text() == "key")
        #expect(throws: CryptoError.cannotUnwrap) { _ = try other.key.open(sealed: box) }
        for index in box.indices {
            var changed = box
            changed[index] ^= 0x10
            #expect(throws: CryptoError.cannotUnwrap) { _ = try mine.key.open(sealed: changed) }
        }
        for count in 0..<box.count {
            #expect(throws: CryptoError.cannotUnwrap) { _ = try mine.key.open(sealed: Array(box.prefix(count))) }
        }
        #expect(throws: CryptoError.wrongKeyType) { _ = try Sample.rsa.key.open(sealed: box) }
        #expect(throws: CryptoError.invalidKey) {
            _ = try PublicKey(x25519: [UInt8](repeating: 0, count: 32)).seal(secret("key"))
        }
    }

    @Test("both sides of an agreement compute the same secret, and a point of low order is refused")
    func agreement() throws {
        for kind in [KeyKind.x25519, .ec(.p256), .ec(.p384), .ec(.p521)] {
            let (one, other) = (KeyBox { try .generate(kind) }, KeyBox { try .generate(kind) })
            let shared = try one.key.agree(with: other.key.publicKey())
            #expect(try shared.isEqual(to: other.key.agree(with: one.key.publicKey())))
            #expect(shared.count == (kind == .x25519 ? 32 : [256: 32, 384: 48, 521: 66][kind.bits]))
        }
        let mine = try PrivateKey.generate(.x25519)
        // RFC 7748 section 6.1; the values are those of Curve25519's own page.
        let lowOrder = [
            "0000000000000000000000000000000000000000000000000000000000000000",
            "0100000000000000000000000000000000000000000000000000000000000000",
            "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
            "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        ]
        for point in lowOrder {
            #expect(throws: CryptoError.invalidKey, "\(point)") {
                _ = try mine.agree(with: PublicKey(x25519: Hex.decode(point)))
            }
        }
        #expect(throws: CryptoError.wrongKeyType) { _ = try mine.agree(with: Sample.p256.key.publicKey()) }
        #expect(throws: CryptoError.wrongKeyType) { _ = try Sample.rsa.key.agree(with: Sample.rsa.key.publicKey()) }
    }
}
