import OMCrypto
import OMSecrets
import Testing

@testable import OMVectors

/// Layouts of files that are published elsewhere: older schemas, NIST's other tests, keys written as files.
@Suite struct PublishedFormTests {
    /// SP 800-56A's primitive, KAS_ECC_CDH_PrimitiveTest.txt, P-256, COUNT = 0.
    private static let agreement = """
        #  CAVS 14.1
        #  ECC CDH Primitive (SP800-56A Section 5.7.1.2) Test Information for "testecccdh"

        [P-256]

        COUNT = 0
        QCAVSx = 700c48f77f56584c5cc632ca65640db91b6bacce3a4df6b42ce7cc838833d287
        QCAVSy = db71e509e3fd9b060ddb20ba5c51dcc5948d46fbf640dfe0441782cab85fa4ac
        dIUT = 7d7dc5f71eb29ddaf80d6214632eeae03d9058af1fb6d22ed80badb62bc1a534
        QIUTx = ead218590119e8876b29146ff89ca61770c4edbbf97d38ce385ed281d8a6b230
        QIUTy = 28af61281fd35e2fa7002523acc85a429cb06ee6648325389f59edfce1405141
        ZIUT = 46fc62106420ff012e54a434fbdd2d25ccc5852060561e68040dd7778997bd7b
        """

    /// FIPS 186-3, SigGen.txt, P-256 with SHA-256, the first record.
    private static let signature = """
        #  CAVS 11.2
        #  "SigVer" information for "ecdsa_values"

        [P-256,SHA-256]

        Msg = 5905238877c77421f73e43ee3da6f2d9e2ccad5fc942dcec0cbd25482935faaf416983fe165b1a045ee2bcd2e6dca3bd\
        f46c4310a7461f9a37960ca672d3feb5473e253605fb1ddfd28065b53cb5858a8ad28175bf9bd386a5e471ea7a65c17cc934a9d791e914\
        91eb3754d03799790fe2d308d16146d5c9b0d0debd97d79ce8
        d = 519b423d715f8b581f4fa8ee59f4771a5b44c8130b4e3eacca54a56dda72b464
        Qx = 1ccbe91c075fc7f4f033bfa248db8fccd3565de94bbfb12f3c59ff46c271bf83
        Qy = ce4014c68811f9a21a1fdb2c0e6113e06db7ca93b7404e78dc7ccd5ca89a4ca9
        k = 94a1bbb14b906a61a280f245f9e93c7f3b4a6247824f5d33b9670787642a68de
        R = f3ac8061b514795b8843e3d6629527ed2afd6b1f6a555a7acabb5e6f79c8c2ac
        S = 8bf77819ca05a6b2786c76262bf7371cef97b218e96f175a3ccdda2acc058903
        """

    private func lines(_ text: String, without names: [String]) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { line in !names.contains { line.hasPrefix("\($0) = ") } }.joined(separator: "\n")
    }

    @Test("ECDH of SP 800-56A passes, and any other number in it fails")
    func primitive() {
        #expect(outcome(Self.agreement) == passes(1))
        #expect(outcome(Self.agreement.replacing("\n", with: "\r\n") + "\r\n") == passes(1))
        for name in ["QCAVSx", "QCAVSy", "dIUT", "QIUTx", "QIUTy", "ZIUT"] {
            let start = Self.agreement.firstRange(of: "\(name) = ")?.upperBound ?? Self.agreement.startIndex
            var broken = Self.agreement
            broken.replaceSubrange(start...start, with: broken[start] == "1" ? "2" : "1")
            #expect(outcome(broken) == oneFails, "\(name)")
        }
        #expect(outcome(Self.agreement.replacing("P-256", with: "B-233")) == skips(1))
        #expect(outcome(Self.agreement.replacing("[P-256]", with: "")) == "line 6: no [curve] is in force")
    }

    @Test("recorded signatures are verified, whichever of the signer's numbers are beside them")
    func signatures() {
        for names in [[], ["k"], ["d", "k"]] {
            #expect(outcome(lines(Self.signature, without: names)) == passes(1))
        }
        #expect(outcome(Self.signature.replacing("058903", with: "058904")) == oneFails)
        #expect(outcome(Self.signature.replacing("d = 51", with: "d = 52")) == oneFails)
        #expect(outcome(Self.signature.replacing("[P-256,SHA-256]", with: "[P-256, SHA-256]")) == passes(1))
        #expect(outcome(Self.signature.replacing("SHA-256]", with: "SHA-512224]")) == oneFails)
        #expect(outcome(Self.signature.replacing("P-256", with: "K-256")) == skips(1))
    }

    @Test("an RSA record gives its e, the salt of its own or its comment, and the fields of its damage")
    func rsa() throws {
        let key = try PrivateKey.generate(.rsa(bits: 2048))
        let (modulus, message) = (Hex.encode(try key.publicKey().rawBytes), [UInt8]("message".utf8))
        let signed = { (algorithm: SignatureAlgorithm) in Hex.encode(try key.sign(message, algorithm)) }
        let head = { (title: String, more: String) in
            "# CAVS 11.0\n# \"\(title)\" information\n\(more)\n[mod = 2048]\n\nn = \(modulus)\n"
        }
        let record = { (signature: String, more: String) in
            "SHAAlg = SHA256\ne = 010001\nd = 0\nMsg = \(Hex.encode(message))\nS = \(signature)\n\(more)"
        }
        let (pkcs1, pss) = (
            try signed(.legacyRSAPKCS1(.sha256)), try signed(.rsaPSS(.sha256, salt: .bytes(20)))
        )
        let verify = head("SigVer PKCS#1 Ver 1.5", "")
        #expect(outcome(verify + "\np = 00\nq = 00\n\n" + record(pkcs1, "Result = P\n")) == passes(1))
        #expect(outcome(verify + record(pkcs1, "SaltVal = 00\nEM with hash moved = 00\nResult = F (4)\n")) == oneFails)
        #expect(outcome(verify + record(pss, "EM with trailer wrong =00\nResult = F (5)\n")) == passes(1))
        #expect(
            outcome(verify + record(pkcs1, "IR with trailer wrong = 00\nResult = P\n"))
                == "line 12: Result should stand here")
        #expect(outcome(head("SigVer RSA (X9.31)", "") + record(pkcs1, "Result = P\n")) == skips(1))

        let salt = String(repeating: "ab", count: 20)
        let pssTitle = "FIPS186-3 - SigVer RSA PKCS#1 RSASSA-PSS"
        #expect(outcome(head(pssTitle, "") + record(pss, "SaltVal = \(salt)\nResult = P\n")) == passes(1))
        #expect(outcome(head(pssTitle, "") + record(pss, "Result = P\n")) == "line 7: nothing tells the salt's length")
        #expect(outcome(head(pssTitle, "# Salt len: 20\n") + record(pss, "Result = P\n")) == passes(1))
        #expect(outcome(head(pssTitle, "# Salt len: 21\n") + record(pss, "Result = P\n")) == oneFails)
        // The empty salt is written as one byte, so the combination comes first.
        let combinations =
            "# Combinations selected:Mod Size 1024 with SHA-256(Salt len: 10);; "
            + "Mod Size 2048 with SHA-1(Salt len: 20); SHA-256(Salt len: 0);\n"
        let unsalted = try signed(.rsaPSS(.sha256, salt: .bytes(0)))
        #expect(outcome(head(pssTitle, combinations) + record(unsalted, "SaltVal = 00\nResult = P\n")) == passes(1))

        let generated = head("SigGen PKCS#1 RSASSA-PSS", "# Salt len: 20\n") + "\ne = 010001\nd = 00\n\n"
        let made = "SHAAlg = SHA256\nMsg = \(Hex.encode(message))\nS = \(pss)\n"
        #expect(outcome(generated + made) == passes(1))
        #expect(outcome(generated + made + "SaltVal = \(salt)\n\n" + made) == passes(2))
        #expect(outcome(head("SigGen RSA (X9.31)", "") + "e = 010001\n\n" + made) == skips(1))
    }

    // MARK: Wycheproof

    private func wycheproof(_ algorithm: String, _ group: String, _ test: String) -> String {
        """
        {"algorithm": "\(algorithm)", "generatorVersion": "0.8r12", "numberOfTests": 1, "header": [], "notes": {},
         "schema": "older", "testGroups": [{\(group), "tests": [
          {"tcId": 1, "comment": "", \(test), "result": "valid", "flags": []}]}]}
        """
    }

    @Test("the older schema's keys are read from key or from the group itself")
    func olderKeys() throws {
        let message = [UInt8]("message".utf8)
        let tested = { (signature: [UInt8]) in
            "\"msg\": \"\(Hex.encode(message))\", \"sig\": \"\(Hex.encode(signature))\""
        }
        let curve = try PrivateKey.generate(.ec(.p256))
        let point = Hex.encode(try curve.publicKey().rawBytes)
        let ecdsa = wycheproof(
            "ECDSA",
            "\"type\": \"EcdsaVerify\", \"sha\": \"SHA-256\", \"keyDer\": \"00\", \"key\": {\"curve\": \"secp256r1\", "
                + "\"type\": \"EcPublicKey\", \"uncompressed\": \"\(point)\"}",
            tested(try curve.sign(message, .ecdsa(.sha256))))
        #expect(outcome(ecdsa) == passes(1))
        #expect(outcome(ecdsa.replacing("SHA-256", with: "SHA-384")) == oneFails)
        #expect(outcome(ecdsa.replacing("\"key\"", with: "\"keys\"")) == "file, testGroups 1: key is missing")

        let edwards = try PrivateKey.generate(.ed25519)
        let bytes = Hex.encode(try edwards.publicKey().rawBytes)
        let eddsa = wycheproof(
            "EDDSA",
            "\"type\": \"EddsaVerify\", \"key\": {\"curve\": \"edwards25519\", \"pk\": \"\(bytes)\", \"sk\": \"\"}",
            tested(try edwards.sign(message, .ed25519)))
        #expect(outcome(eddsa) == passes(1))

        let rsa = try PrivateKey.generate(.rsa(bits: 2048))
        let numbers = "\"n\": \"00\(Hex.encode(try rsa.publicKey().rawBytes))\", \"e\": \"010001\", \"keyAsn\": \"\""
        let signature = try rsa.sign(message, .rsaPSS(.sha512_224, mask: .insecureSHA1, salt: .bytes(3)))
        for type in ["RsassaPssVerify", "RsassaPssWithParametersVerify"] {
            let text = wycheproof(
                "RSASSA-PSS",
                "\"type\": \"\(type)\", \"sha\": \"SHA-512/224\", \"mgf\": \"MGF1\", \"mgfSha\": \"SHA-1\", "
                    + "\"sLen\": 3, " + numbers, tested(signature))
            #expect(outcome(text) == passes(1))
            #expect(outcome(text.replacing("\"sLen\": 3", with: "\"sLen\": 4")) == oneFails)
        }
        // RFC 3394, 4.1.
        let wrapped = wycheproof(
            "KW", "\"type\": \"KeywrapTest\", \"keySize\": 128",
            "\"key\": \"000102030405060708090A0B0C0D0E0F\", \"msg\": \"00112233445566778899AABBCCDDEEFF\", "
                + "\"ct\": \"1FA68B0A8112B447AEF34BD8FB5A7B829D3E862371D2CFE5\"")
        #expect(outcome(wrapped) == passes(1))
    }

    @Test("both keys of an agreement may be files: PEM, DER, JWK")
    func keyFiles() throws {
        for (kind, name) in [(KeyKind.x25519, "curve25519"), (.ec(.p521), "secp521r1")] {
            let one = try PrivateKey.generate(kind)
            let other = try PrivateKey.generate(kind)
            let shared = try one.agree(with: other.publicKey()).withBytes { Hex.encode([UInt8](copying: $0)) }
            let pkcs8 = try one.unencryptedPKCS8()
            let spki = try other.publicKey().spki()
            let quoted = { (text: String) in "\"\(text.replacing("\n", with: "\\n"))\"" }
            let text = { (secret: borrowing SecretBytes) in
                secret.withBytes { String(decoding: [UInt8](copying: $0), as: UTF8.self) }
            }
            let isX = kind == .x25519
            var forms = [
                (
                    isX ? "XdhPemComp" : "EcdhPemTest", quoted(text(KeyText.pem(unencryptedPKCS8: pkcs8))),
                    quoted(KeyText.pem(spki: spki))
                ),
                (isX ? "XdhJwkComp" : "EcdhWebcryptoTest", text(try one.unencryptedJWK()), try other.publicKey().jwk()),
            ]
            if isX {
                let der = pkcs8.withBytes { Hex.encode([UInt8](copying: $0)) }
                forms.append(("XdhAsnComp", quoted(der), quoted(Hex.encode(spki))))
            }
            for (type, secret, open) in forms {
                let file = wycheproof(
                    isX ? "XDH" : "ECDH", "\"type\": \"\(type)\", \"curve\": \"\(name)\"",
                    "\"private\": \(secret), \"public\": \(open), \"shared\": \"\(shared)\"")
                #expect(outcome(file) == passes(1), "\(type)")
                // The last byte, because the first byte of a P-521 secret is always 0 or 1.
                let changed = shared.dropLast(2) + (shared.hasSuffix("00") ? "01" : "00")
                #expect(outcome(file.replacing(shared, with: changed)) == oneFails, "\(type)")
                #expect(outcome(file.replacing(name, with: "curve448")) == skips(1), "\(type)")
                #expect(outcome(file.replacing(open, with: "7")) != passes(1), "\(type)")
            }
        }
    }

    @Test("a point at x = 0 is an ordinary secret on the curves of prime order")
    func zeroCoordinate() {
        // Wycheproof, ecdh_secp256r1_ecpoint_test.json, tcId 3.
        let file = wycheproof(
            "ECDH", "\"type\": \"EcdhEcpointTest\", \"curve\": \"secp256r1\", \"encoding\": \"ecpoint\"",
            "\"public\": \"0458fd4168a87795603e2b04390285bdca6e57de6027fe211dd9d25e2212d29e62"
                + "080d36bd224d7405509295eed02a17150e03b314f96da37445b0d1d29377d12c\", "
                + "\"private\": \"0a0d622a47e48f6bc1038ace438c6f528aa00ad2bd1da5f13ee46bf5f633d71a\", "
                + "\"shared\": \"\(String(repeating: "0", count: 64))\"")
        #expect(outcome(file) == passes(1))
    }

    // MARK: Others

    @Test("a byte order mark is skipped once")
    func byteOrderMark() {
        #expect(outcome("\u{FEFF}" + CAVPReaderTests.short) == passes(2))
        #expect(outcome("\u{FEFF}" + JSONReaderTests.native) == passes(2))
        #expect(outcome("\u{FEFF}\u{FEFF}" + JSONReaderTests.native) != passes(2))
    }

    @Test("an unknown algorithm's text is counted under its own name")
    func otherAlgorithms() throws {
        let records = "\nCOUNT = 0\nKEY = 00\nIV = 00\nPLAINTEXT = 00\nCIPHERTEXT = 00\n\nCOUNT = 1\nKEY = 00\n"
        let text = "# CAST5 CTR vectors\n# Derived from the RFC 3686 test vectors for AES CTR\n" + records
        #expect(outcome(text) == skips(2))
        #expect(try ParsedVectors.of(Array(text.utf8), named: "a.txt").cases[0].algorithm == "CAST5")
        #expect(outcome(records, named: "camellia-cbc.txt") == skips(2))
        let unknown = "neither the comments, the fields nor the file's name tell the kind"
        #expect(outcome(records, named: "a.txt") == unknown)
    }
}
