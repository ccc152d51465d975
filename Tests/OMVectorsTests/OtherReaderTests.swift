import Foundation
import Testing

@testable import OMVectors

/// The formats whose kinds are about key pairs: here only their records are read, right or broken.
@Suite struct OtherReaderTests {
    static let rsaLabs = """
        Test vectors for RSA-OAEP
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

    private static let seed = String(repeating: "9d", count: 32)
    private static let open = String(repeating: "d7", count: 32)
    private static let signature = String(repeating: "e5", count: 64)
    static let signInput = """
        \(seed)\(open):\(open)::\(signature):
        \(seed)\(open):\(open):72:\(signature)72:

        """

    private func check(_ text: String, _ cases: [(String, String, String)]) {
        for (part, broken, reason) in cases {
            let changed = text.replacing(part, with: broken, maxReplacements: 1)
            #expect(changed != text, "\(part) is not there")
            #expect(outcome(changed) == reason, "\(part) → \(broken)")
        }
    }

    @Test("RSA Labs' file gives each key's numbers and each example's fields, whatever the line ends")
    func rsaLabsRecords() throws {
        for text in [
            Self.rsaLabs, Self.rsaLabs.replacing("\n", with: "\r\n"), Self.rsaLabs.replacing(":\n", with: ": \n"),
        ] {
            let reading = try Reading.of(Array(text.utf8), named: "oaep-vect.txt")
            #expect(reading.format == .rsaLabs)
            #expect(reading.cases.map(\.id) == ["line 33", "line 45"])
        }
    }

    @Test("every malformed RSA Labs file is given up with its reason")
    func malformedRSALabs() {
        check(
            Self.rsaLabs,
            [
                ("Test vectors for RSA-OAEP", "Test vectors of RSA-OAEP", "text of no known vector format"),
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

    @Test("sign.input gives a record a line")
    func signInputRecords() throws {
        let reading = try Reading.of(Array(Self.signInput.utf8), named: "sign.input")
        #expect(reading.format == .signInput)
        #expect(reading.cases.map(\.id) == ["line 1", "line 2"])
    }

    @Test("every malformed sign.input is given up with its reason")
    func malformedSignInput() {
        let (seed, open, signature) = (Self.seed, Self.open, Self.signature)
        let line = "\(seed)\(open):\(open):72:\(signature)72:"
        let first = "\(seed)\(open):\(open)::\(signature):\n"
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
            #expect(outcome(first + broken + "\n") == (reason.isEmpty ? skips(1) : reason), "\(broken)")
        }
    }

    @Test("cut off at any byte, neither gives another reading than the whole")
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

    @Test("files that stand among vectors are known for what they are, and count as no skip")
    func companions() throws {
        let folder = try Folder()
        try folder.write("-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n", "key.txt")
        try folder.write("\u{0}", "key.der")
        try folder.write("\u{0}", "store.p12")
        try folder.write("Words.\n", "README.md")
        try folder.write("Words.\n", "LICENSE")
        try folder.write("Words.\n", "NIST-README.txt")
        try folder.write("{\"$schema\": \"http://json-schema.org/draft-07/schema#\"}", "schema.json")
        try folder.write("{\"type\": \"object\", \"properties\": {}}", "schema2.json")
        try folder.write("[{\"path\": \"a\", \"sha256\": \"b\"}]", "MANIFEST.json")
        let report = try report([folder.path])
        #expect(report.summary == skips(0))
        #expect(report.notes.map(\.count).reduce(0, +) == 9)
        try folder.write("Words.\n", "notes.md")
        #expect(try OMVectorsTests.report([folder.path]).summary == skips(1))
    }

    @Test("a file that a record names is read from below the folder, and from nowhere else")
    func named() throws {
        let folder = try Folder()
        try folder.write("outside", "secret.pem")
        try folder.write("inside", "index/keys/a.pem")
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder.path)/index/link.pem", withDestinationPath: "\(folder.path)/secret.pem")
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder.path)/index/up", withDestinationPath: folder.path)
        let companions = Companions(of: "\(folder.path)/index/keys.json")
        #expect(try companions.bytes("keys/a.pem") == Array("inside".utf8))
        for name in [
            "../secret.pem", "keys/../../secret.pem", "/etc/passwd", "", ".", "..", "keys/", "keys//a.pem",
            "./keys/a.pem",
            "\(folder.path)/secret.pem", "keys/a.pem\0", "link.pem", "up/secret.pem", "nothing.pem", "keys",
        ] {
            #expect(throws: Unreadable.self, "\(name)") { try companions.bytes(name) }
        }
        #expect(throws: Unreadable.self) { try Companions.none.bytes("a.pem") }
    }
}
