import Foundation
import TestSupport
import Testing

@testable import OMVectors

/// The formats of the kinds with key pairs.
@Suite struct OtherReaderTests {
    /// A scheme without a kind, because the test breaks the file's form and not a number of a key.
    static let rsaLabs = """
        Test vectors for RSA-KEM
        =========================

        Key  1: 16 bits
        ============================================================================
        # Example 1: A 16-bit RSA key pair
        # -----------------------------------

        # Public key
        # ----------

        # Modulus:
        a8 b3

        # Exponent:
        01 00 01

        # Private key
        # -----------

        # Modulus:
        a8 b3

        # Public exponent:
        01 00 01

        # Exponent:
        53 33

        # OAEP Example 1.1
        # ------------------

        # Message:
        66 28

        # Seed:
        18

        # Encryption:
        35 4f

        # OAEP Example 1.2
        # ------------------

        # Message:

        # Seed:
        19

        # Encryption:
        35 50
        # =============================================

        """

    /// RFC 8032, section 7.1, TEST 1, and the same key's signature of the byte 72.
    private static let seed = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"
    private static let open = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    private static let signature =
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
        + "d25bf5f0595bbe24655141438e7a100b"
    private static let signature72 =
        "1b79abc415a34efe5915b4c1b53d2435e731b3c92d0ba440de29cab2999fa885bd0eb3c71dfd8df6fbecf8c0ef403e89"
        + "02dec8e2abd00ab9b04b1df027929609"
    static let signInput = """
        \(seed)\(open):\(open)::\(signature):
        \(seed)\(open):\(open):72:\(signature72)72:

        """

    private func check(_ text: String, _ cases: [(String, String, String)]) {
        for (part, broken, reason) in cases {
            let changed = text.replacing(part, with: broken, maxReplacements: 1)
            #expect(changed != text, "\(part) is not there")
            #expect(outcome(changed) == reason, "\(part) → \(broken)")
        }
    }

    @Test("RSA Labs' file gives each key's numbers and each example's fields, with any line ends")
    func rsaLabsRecords() throws {
        for text in [
            Self.rsaLabs, Self.rsaLabs.replacing("\n", with: "\r\n"), Self.rsaLabs.replacing(":\n", with: ": \n"),
        ] {
            let reading = try ParsedVectors.of(Array(text.utf8), named: "oaep-vect.txt")
            #expect(reading.format == .rsaLabs)
            #expect(reading.cases.map(\.id) == ["line 33", "line 45"])
            #expect(outcome(text) == skips(Self.cases))
        }
    }

    /// A key and an example made with it by Python's `cryptography`.
    private static let oaep = """
        Test vectors for RSA-OAEP
        ============================================================================
        # Public key
        # Modulus:
        e7 24 56 dc ae e6 65 04 62 92 a1 9a a0 d7 34 d5 a9 fd d8 d8 f8 30 b2 f7 04 ea 87 ee fd ed 59 a2
        9a eb 29 db 7b 3a af a9 1b 47 d8 f3 b2 30 4c ba 4a 12 b2 dd 0e 29 f0 6e d6 63 8c b7 1c 30 4c 9b
        9b 19 b1 e3 ed a5 19 cc d8 9c aa c4 db 53 85 6b 78 41 d0 49 33 ff 59 24 ae 7f 08 68 b7 9a 1e 60
        31 2f 6e 33 ac cd 69 29 f4 dd e5 8c a5 d3 30 a2 73 93 bb 7f 8d 97 ca 2f 99 ab c2 a3 fb 04 a3 c7
        # Exponent:
        01 00 01
        # Private key
        # Modulus:
        e7 24 56 dc ae e6 65 04 62 92 a1 9a a0 d7 34 d5 a9 fd d8 d8 f8 30 b2 f7 04 ea 87 ee fd ed 59 a2
        9a eb 29 db 7b 3a af a9 1b 47 d8 f3 b2 30 4c ba 4a 12 b2 dd 0e 29 f0 6e d6 63 8c b7 1c 30 4c 9b
        9b 19 b1 e3 ed a5 19 cc d8 9c aa c4 db 53 85 6b 78 41 d0 49 33 ff 59 24 ae 7f 08 68 b7 9a 1e 60
        31 2f 6e 33 ac cd 69 29 f4 dd e5 8c a5 d3 30 a2 73 93 bb 7f 8d 97 ca 2f 99 ab c2 a3 fb 04 a3 c7
        # Public exponent:
        01 00 01
        # Exponent:
        5d 57 bd 84 4d 55 59 82 15 d4 a5 52 6e 95 ba 0e 77 21 be 4a 90 a0 0a 05 db 84 62 f4 ce b2 e5 39
        d7 5a 14 83 40 16 89 0d bf a8 9a 22 7f d9 25 83 2d 9a b3 84 b5 cd 95 fd 0c b3 13 06 77 69 c1 e5
        68 98 ad bc bc 2d 6b e9 26 9c 9b f3 b9 00 6c 8d be fb 44 37 3a c2 cd 04 ee 21 a0 1c 49 a2 9f 8a
        f2 ee 42 7f 96 20 61 7e 11 bc 87 08 74 cc c0 3f e0 c3 56 62 15 37 7b 0d 0f c2 38 0d ab 46 42 91
        # Prime 1:
        f5 80 f0 24 88 6a 63 7e fa fe 42 8c 46 54 c9 0a 33 37 5d f2 fd 96 b6 1c d5 12 cc 1e c9 27 9b d8
        4d dc dc a4 81 9d 9f a2 c1 b7 81 bd 56 ca c9 b5 c1 30 98 57 ea 7c fc d8 90 6c fb c2 bd ca 7a 55
        # Prime 2:
        f1 06 35 fb 45 53 b4 ac 70 f0 0a 3c ac 8e 7a 50 2c 35 ec 84 c4 94 3e 6f af 6b 0d 96 e3 fd ec 0b
        b4 43 2c cf 19 8b 37 d5 0d c9 b2 a2 2d 57 2a c5 eb 22 aa b2 0e ff cb 08 59 8e 40 14 b9 68 39 ab
        # Prime exponent 1:
        63 eb f0 d1 cd bc 0f 76 f5 4d 5b 64 a0 93 8d a7 db 24 a3 d6 6c a4 54 c6 f3 6a 4d 2e 12 8d 4e 7f
        01 61 ed 63 ff 65 5a 3d f2 3e 70 4d d1 ef 83 9d b8 5d c1 03 b7 6a db b6 81 41 fa 4e 4e d5 04 69
        # Prime exponent 2:
        82 2a fa 88 63 9e 9b 5a ed fb 95 6b c3 3d 87 6d 39 13 3e 53 4d df 4a 01 03 59 eb 92 ec 3a bc 7a
        6d b6 41 c2 ef 66 b2 96 8b c5 bc 85 bd ba ef cc c7 fa 86 f9 77 04 4a 60 8e 0d 37 2a 7a 1f 81 d5
        # Coefficient:
        be a7 22 ac 0b 39 3b 1a 7e 0c c7 9e 99 f1 4e cc 68 7c 82 71 21 9e 4e 4f 20 fe 8b 6e 74 d4 31 4e
        84 ff 2b 10 47 3c 3a 19 e8 bb 58 5c 70 64 f7 03 ea a8 4c b4 64 6d f1 e7 52 f7 83 44 b9 4c 82 d7
        # OAEP Example 1.1
        # Message:
        66 28
        # Seed:
        18
        # Encryption:
        76 83 36 3c e8 1c dc d6 4b 22 ab 30 6d 39 28 ba 55 de 84 04 dd d6 1e e6 f8 96 06 9d 0c e9 ed f9
        c9 04 b3 89 17 97 17 56 cd 79 66 3d 5b a4 b3 b3 d5 6d 00 b4 37 b7 a2 25 fd be 40 88 4e 2e 18 25
        f0 65 95 ce f4 47 35 43 66 b3 f6 bc a6 8e 18 b0 0e a8 1d 84 0d 8c e0 3c f0 ec 12 c2 7c 9a c4 00
        8d 61 50 4c e7 37 1f 1f 32 69 fb 0f 24 14 3f 91 5d 94 7e 69 c8 d8 cc 9b 68 60 17 92 6b 17 9a fa

        """

    @Test("every number of an RSA Labs key and every field of its examples reach the check under its name")
    func rsaLabsRuns() {
        #expect(outcome(Self.oaep) == passes(1))
        for (part, broken) in [
            ("66 28", "66 29"), ("76 83", "76 82"), ("f5 80", "f5 82"), ("f1 06", "f1 04"), ("5d 57", "5d 56"),
        ] {
            let changed = Self.oaep.replacing(part, with: broken)
            #expect(changed != Self.oaep, "\(part) is not there")
            #expect(outcome(changed) == oneFails, "\(part)")
        }
    }

    @Test("every malformed RSA Labs file is rejected with its reason")
    func malformedRSALabs() {
        check(
            Self.rsaLabs,
            [
                ("Test vectors for RSA-KEM", "Test vectors of RSA-KEM", "text of no known vector format"),
                ("66 28", "66 2", "line 33: Message is not hex"), ("66 28", "66 2g", "line 33: Message is not hex"),
                ("66 28", "66\t28", "line 33: Message is not hex"), ("66 28", "66,28", "line 33: Message is not hex"),
                ("66 28", "# =====", skips(Self.cases)),
                ("# Message:\n66 28", "66 28", "line 33: a value without a title"),
                ("# Seed:\n18\n", "", "line 33: an example of Message, Encryption"),
                ("# Seed:\n18", "# Salt:\n18", "line 33: an example of Message, Salt, Encryption"),
                ("# Seed:\n18", "# Nonce:\n18", "line 37: a value without a title"),
                ("# Seed:\n18", "# Seed\n18", "line 37: a value without a title"),
                ("# Seed:\n18", "# Seed:\n18\n# Seed:\n18", "line 33: an example of Message, Seed, Seed, Encryption"),
                ("# Encryption:\n35 4f", "# Signature:\n35 4f", "line 33: an example of Message, Seed, Signature"),
                ("# Encryption:\n35 4f", "", "line 33: an example of Message, Seed"),
                ("# Encryption:\n35 50", "", "line 45: an example of Message, Seed"),
                ("# Message:\n66 28\n", "", "line 34: an example of Seed, Encryption"),
                ("18", "1", "line 36: Seed is not hex"), ("35 4f", "35 4", "line 39: Encryption is not hex"),
                ("a8 b3", "a8 b", "line 12: Modulus is not hex"),
                ("01 00 01", "1 00 01", "line 15: Exponent is not hex"),
                ("a8 b3", "a8 b4", "line 21: another Modulus than before"),
                ("01 00 01", "01 00 03", "line 24: another Public exponent than before"),
                ("# Private key", "# Secret key", "line 27: another Exponent than before"),
                ("53 33", "53 3", "line 27: Exponent is not hex"), ("53 33", "0x53", "line 27: Exponent is not hex"),
                ("53 33", "-53", "line 27: Exponent is not hex"),
                ("53 33", "5333 words", "line 27: Exponent is not hex"),
                ("# Public key\n", "a8\n", "line 9: a value without a title"),
                ("# Example 1", "Example 1", "line 6: a value without a title"),
                ("# Public exponent:", "Public exponent:", "line 21: Modulus is not hex"),
                ("# OAEP Example 1.1", "OAEP Example 1.1", "line 27: Exponent is not hex"),
                ("# Seed:\n19", "# Seed:\n19 zz", "line 47: Seed is not hex"),
            ])
        let head = Self.rsaLabs.prefix(
            upTo: Self.rsaLabs.firstRange(of: "# OAEP Example 1.1")?.lowerBound ?? Self.rsaLabs.endIndex)
        #expect(outcome(String(head)) == "the file holds no record")
    }

    private static let cases = 2

    @Test("sign.input gives one record per line")
    func signInputRecords() throws {
        let reading = try ParsedVectors.of(Array(Self.signInput.utf8), named: "sign.input")
        #expect(reading.format == .signInput)
        #expect(reading.cases.map(\.id) == ["line 1", "line 2"])
        #expect(outcome(Self.signInput) == passes(2))
        // Both signatures are right, but for each other's message.
        let exchanged = Self.signInput.replacing(Self.signature72, with: "-")
            .replacing(Self.signature, with: Self.signature72).replacing("-", with: Self.signature)
        #expect(outcome(exchanged) == "0 passed, 2 failed, 0 acceptable, 0 skipped")
    }

    @Test("every malformed sign.input is rejected with its reason")
    func malformedSignInput() {
        let (seed, open, signature) = (Self.seed, Self.open, Self.signature72)
        let line = "\(seed)\(open):\(open):72:\(signature)72:"
        let first = "\(seed)\(open):\(open)::\(Self.signature):\n"
        let four = "line 2: not four fields, each with a colon after it"
        let contradiction = "line 2: the fields contradict each other"
        let cases: [(String, String)] = [
            ("", ""), (String(line.dropLast()), four), (line + ":", four), (line + "x", four), (line + " ", four),
            (line.replacing("72:", with: "72"), four), (":", four), ("::::", "line 2: secretAndPublic is not 64 bytes"),
            (":" + line, four), (line.replacing(":", with: ";"), four), ("# a comment", four),
            (" " + line, "line 2: secretAndPublic is not hex"),
            (String(line.dropFirst(2)), "line 2: secretAndPublic is not 64 bytes"),
            (String(line.dropFirst()), "line 2: secretAndPublic is not hex"),
            ("0" + line, "line 2: secretAndPublic is not hex"),
            ("00" + line, "line 2: secretAndPublic is not 64 bytes"),
            ("zz" + line.dropFirst(2), "line 2: secretAndPublic is not hex"),
            ("\(seed)\(open):\(open.dropLast(2)):72:\(signature)72:", "line 2: public is not 32 bytes"),
            ("\(seed)\(open):\(open)00:72:\(signature)72:", "line 2: public is not 32 bytes"),
            ("\(seed)\(open):\(open.dropLast())g:72:\(signature)72:", "line 2: public is not hex"),
            ("\(seed)\(open)::72:\(signature)72:", "line 2: public is not 32 bytes"),
            ("\(seed)\(seed):\(open):72:\(signature)72:", contradiction),
            ("\(seed)\(open):\(seed):72:\(signature)72:", contradiction),
            ("\(seed)\(open):\(open):7:\(signature)72:", "line 2: message is not hex"),
            ("\(seed)\(open):\(open):73:\(signature)72:", contradiction),
            ("\(seed)\(open):\(open)::\(signature)72:", contradiction),
            ("\(seed)\(open):\(open):7272:\(signature)72:", contradiction),
            ("\(seed)\(open):\(open):72:\(signature):", contradiction),
            ("\(seed)\(open):\(open):72:\(signature)73:", contradiction),
            ("\(seed)\(open):\(open):72::", contradiction), ("\(seed)\(open):\(open):72:72:", contradiction),
            ("\(seed)\(open):\(open):72:\(signature)7:", "line 2: signatureAndMessage is not hex"),
            ("\(seed)\(open):\(open):\"r\":\(signature)72:", "line 2: message is not hex"),
        ]
        #expect(cases.count >= 32)
        for (broken, reason) in cases {
            #expect(outcome(first + broken + "\n") == (reason.isEmpty ? passes(1) : reason), "\(broken)")
        }
    }

    @Test("a cut of either file at any byte gives no other reading than the whole")
    func truncation() {
        for text in [Self.rsaLabs, Self.signInput] {
            let bytes = Array(text.utf8)
            for count in 0..<bytes.count {
                #expect(!outcome(Array(bytes.prefix(count))).contains("1 failed"), "\(count)")
            }
        }
    }

    @Test("no bytes make either reader crash")
    func noise() {
        var state: UInt64 = 3
        for text in [Self.rsaLabs, Self.signInput, ACVPReaderTests.prompt] {
            for _ in 0..<1000 {
                var bytes = Array(text.utf8)
                for _ in 0..<3 {
                    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    bytes[Int(state >> 33) % bytes.count] = UInt8(truncatingIfNeeded: state >> 56)
                }
                _ = outcome(bytes)
            }
        }
    }

    @Test("other files beside the vectors are recognised, and do not count as skipped")
    func companions() throws {
        let folder = try TestFolder()
        try folder.write("-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n", to: "key.txt")
        try folder.write("\u{0}", to: "key.der")
        try folder.write("\u{0}", to: "store.p12")
        try folder.write("Words.\n", to: "README.md")
        try folder.write("Words.\n", to: "LICENSE")
        try folder.write("Words.\n", to: "NIST-README.txt")
        try folder.write("{\"$schema\": \"http://json-schema.org/draft-07/schema#\"}", to: "schema.json")
        try folder.write("{\"type\": \"object\", \"properties\": {}}", to: "schema2.json")
        try folder.write("[{\"path\": \"a\", \"sha256\": \"b\"}]", to: "MANIFEST.json")
        try folder.write(String(repeating: "\u{0}", count: 257) + "ustar\u{0}00", to: "golden.tar")
        let report = try report([folder.path])
        #expect(report.summary == skips(0))
        #expect(report.notes.map(\.count).reduce(0, +) == 10)
        try folder.write("Words.\n", to: "notes.md")
        #expect(try OMVectorsTests.report([folder.path]).summary == skips(1))
        try folder.write("Words.\n", to: "other.tar")
        #expect(try OMVectorsTests.report([folder.path]).summary == skips(2))
    }

    @Test("a file that a record names is read from below the folder only")
    func named() throws {
        let folder = try TestFolder()
        try folder.write("outside", to: "secret.pem")
        try folder.write("inside", to: "index/keys/a.pem")
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder.path)/index/link.pem", withDestinationPath: "\(folder.path)/secret.pem")
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder.path)/index/up", withDestinationPath: folder.path)
        let companions = CompanionFiles(of: "\(folder.path)/index/keys.json")
        #expect(try companions.bytes("keys/a.pem") == Array("inside".utf8))
        for name in [
            "../secret.pem", "keys/../../secret.pem", "/etc/passwd", "", ".", "..", "keys/", "keys//a.pem",
            "./keys/a.pem",
            "\(folder.path)/secret.pem", "keys/a.pem\0", "link.pem", "up/secret.pem", "nothing.pem", "keys",
        ] {
            #expect(throws: UnreadableFile.self, "\(name)") { try companions.bytes(name) }
        }
        #expect(throws: UnreadableFile.self) { try CompanionFiles.none.bytes("a.pem") }
    }
}
