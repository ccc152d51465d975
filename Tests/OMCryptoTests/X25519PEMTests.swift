import OMCrypto
import OMSecrets
import Testing

@Suite("X25519 keys in PEM") struct X25519PEMTests {
    /// RFC 7748 section 6.1, Alice; in PEM as openssl writes it.
    private static let privatePEM = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VuBCIEIHcHbQpzGKV9PBbBclGyZkXfTC+H68CZKrF3+6UduSwq
        -----END PRIVATE KEY-----

        """
    private static let publicPEM = """
        -----BEGIN PUBLIC KEY-----
        MCowBQYDK2VuAyEAhSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=
        -----END PUBLIC KEY-----

        """

    @Test("what openssl writes is read, and the two halves belong together")
    func read() throws {
        let recipient = try FileRecipient(pem: secret(Self.publicPEM.utf8))
        #expect(Hex.encode(recipient.publicKey) == "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a")
        let identity = try X25519Identity(pem: secret(Self.privatePEM.utf8))
        #expect(identity.publicKey == recipient.publicKey)
        let shared = try identity.agree(
            with: Hex.decode("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"))
        #expect(Hex.encode(bytes(shared)) == "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742")
        _ = try FileRecipient(pem: secret(Self.publicPEM.replacing("\n", with: "\r\n").utf8))
    }

    @Test("anything else is refused")
    func malformed() {
        let body = "MCowBQYDK2VuAyEAhSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo="
        let changes = [
            ("BEGIN PUBLIC", "BEGIN PRIVATE"), ("END PUBLIC", "END PRIVATE"), ("-----BEGIN", "----BEGIN"),
            ("KEY-----\nM", "KEY----\nM"),
            ("BEGIN", "Begin"), ("PUBLIC KEY", "X25519 PUBLIC KEY"), (body, ""), (body, body + "\n" + body),
            (body, " " + body), (body, body + " "),
            (body, String(body.dropLast())), (body, body.dropLast(2) + "=="), (body, body + "AAAA"),
            (body, "AAAA" + body),
            (body, body.replacing("K2Vu", with: "K2Vw")), (body, body.replacing("MCow", with: "MCsw")),
            (body, body.replacing("VuAyEA", with: "VuAyAA")),
            (body, body.replacing("Tmo=", with: "Tmp=")), (body, body.replacing("/", with: "_")),
            (body, body.replacing("h", with: "\u{0}")),
            (body, body.replacing("AyEA", with: "AyEB")), ("\n-----END", "-----END"), ("-----BEGIN", "x\n-----BEGIN"),
            ("KEY-----\n\n", "KEY-----\nx\n"),
            ("-----END PUBLIC KEY-----", ""), ("-----BEGIN PUBLIC KEY-----", ""), (body, "-"),
            (body, body + "\n" + "Proc-Type: 4,ENCRYPTED"),
            ("PUBLIC", "ENCRYPTED PUBLIC"), (body, body.lowercased()), ("-----\n", "-----\u{2028}"),
            ("KEY-----\nM", "KEY-----M"),
        ]
        #expect(changes.count >= 32)
        for (part, broken) in changes {
            let text = Self.publicPEM.replacing(part, with: broken, maxReplacements: 1)
            let isSame = text == Self.publicPEM || part == "KEY-----\n\n"
            guard !isSame else { continue }
            #expect(throws: CryptoError.unusableRecipient, "\(part) → \(broken)") {
                _ = try FileRecipient(pem: secret(text.utf8))
            }
        }
        for text in ["", "\n", Self.publicPEM + Self.publicPEM, Self.publicPEM] {
            #expect(throws: CryptoError.unusableRecipient) { _ = try X25519Identity(pem: secret(text.utf8)) }
        }
    }
}
