import Testing

@testable import OMVectors

@Suite struct CAVPReaderTests {
    static let short = """
        #  CAVS 11.0
        #  "SHA-1 ShortMsg" information

        [L = 20]

        Len = 0
        Msg = 00
        MD = da39a3ee5e6b4b0d3255bfef95601890afd80709

        Len = 24
        Msg = 616263
        MD = a9993e364706816aba3e25717850c26c9cd0d89d

        """

    /// NIST SP 800-38A, F.2.1, first block.
    static let cbc = """
        # CAVS 11.1
        # AESVS MMT test data for CBC

        [ENCRYPT]

        COUNT = 0
        KEY = 2b7e151628aed2a6abf7158809cf4f3c
        IV = 000102030405060708090a0b0c0d0e0f
        PLAINTEXT = 6bc1bee22e409f96e93d7e117393172a
        CIPHERTEXT = 7649abac8119b246cee98e9b12e9197d

        [DECRYPT]

        COUNT = 0
        KEY = 2b7e151628aed2a6abf7158809cf4f3c
        IV = 000102030405060708090a0b0c0d0e0f
        CIPHERTEXT = 7649abac8119b246cee98e9b12e9197d
        PLAINTEXT = 6bc1bee22e409f96e93d7e117393172a

        """

    @Test("line ends, trailing blanks, capital hex and names make no difference")
    func layouts() {
        #expect(outcome(Self.short) == passes(2))
        #expect(outcome(Self.short.replacing("\n", with: "\r\n"), named: "CBCMCT128.rsp") == passes(2))
        #expect(outcome(Self.short.replacing("\n", with: " \t\n")) == passes(2))
        #expect(outcome(Self.short.replacing("a9993e", with: "A9993E")) == passes(2))
        #expect(outcome(Self.cbc, named: "SHA1Monte.rsp") == passes(2))
    }

    @Test("a file without its comments is classified by its fields, then by its name")
    func headless() {
        let bareDigest = Self.short.split(separator: "\n").filter { !$0.hasPrefix("#") }.joined(separator: "\n")
        let bareCBC = Self.cbc.split(separator: "\n").filter { !$0.hasPrefix("#") }.joined(separator: "\n")
        let unknown = "neither the comments, the fields nor the file's name tell the kind"
        #expect(outcome(bareDigest, named: "renamed.txt") == passes(2))
        #expect(outcome(bareCBC, named: "CBCMMT128.rsp") == passes(2))
        #expect(outcome(bareCBC, named: "OFBMMT128.rsp") == unknown)
        #expect(outcome(bareCBC, named: "renamed.txt") == unknown)
        #expect(outcome(bareCBC, named: "CBCMCT128.rsp") == "line 2: a chain of 1 steps, not 100")
    }

    @Test("unsupported kinds are counted, record by record")
    func unsupported() {
        for (from, to) in [
            ("SHA-1 ShortMsg", "SHA-512/225 ShortMsg"), ("SHA-1 ShortMsg", "SHAKE128 ShortMsg"),
            ("SHA-1 ShortMsg", "SHA-1 Other"), ("SHA-1 ShortMsg", "SigGen PKCS#1 Ver 1.5"),
        ] {
            #expect(outcome(Self.short.replacing(from, with: to)) == skips(2), "\(to)")
        }
        for mode in ["CFB8", "OFB", "CFB128"] { #expect(outcome(Self.cbc.replacing("CBC", with: mode)) == skips(2)) }
        #expect(outcome(Self.cbc.replacing("AESVS MMT test data", with: "TDES Multi block Message Test")) == skips(2))
        let bits = Self.short.replacing("Len = 24", with: "Len = 23")
        #expect(outcome(bits) == "1 passed, 0 failed, 0 acceptable, 1 skipped")
    }

    @Test("every malformed file is rejected with its reason, and none of its cases counts")
    func malformed() {
        let digest: [(String, String, String)] = [
            ("Len = 24", "Len = 32", "line 11: Msg is not the 32 bits that the record announces"),
            ("Len = 24", "Len = 16", "line 11: Msg is not the 16 bits that the record announces"),
            ("Len = 24", "Len = 0", "line 11: Msg is not the 0 bits that the record announces"),
            ("Len = 24", "Len = 2147483648", "line 11: Msg is not the 2147483648 bits that the record announces"),
            ("Len = 24", "Len = 18446744073709551616", "line 10: Len is not a number in range"),
            ("Len = 24", "Len = 9223372036854775808", "line 10: Len is not a number in range"),
            ("Len = 24", "Len = -24", "line 10: Len is not a number in range"),
            ("Len = 24", "Len = +24", "line 10: Len is not a number in range"),
            ("Len = 24", "Len = 0x18", "line 10: Len is not a number in range"),
            ("Len = 24", "Len = 24.0", "line 10: Len is not a number in range"),
            ("Len = 24", "Len =", "line 10: Len is not a number in range"),
            ("Len = 24", "Len 24", "line 10: neither a comment, a section nor a field"),
            ("Len = 24", "Length = 24", "line 10: Len should stand here"),
            ("Len = 24", "Len = 24\nLen = 24", "line 11: Msg should stand here"),
            ("Len = 24\n", "", "line 10: Len should stand here"),
            ("Msg = 616263", "Msg = 61626", "line 11: Msg is not hex"),
            ("Msg = 616263", "Msg = 6162g3", "line 11: Msg is not hex"),
            ("Msg = 616263", "Msg = 61 62 63", "line 11: Msg is not hex"),
            ("Msg = 616263", "Msg = 616263\nMsg = 616263", "line 12: MD should stand here"),
            ("Msg = 616263\n", "", "line 11: Msg should stand here"),
            ("Msg = 616263", "Msg = \"abc\"", "line 11: Msg is not hex"),
            ("MD = a9993e36", "MD = 993e36", "line 12: MD is not 20 bytes"),
            ("MD = a9993e36", "MD = 00a9993e36", "line 12: MD is not 20 bytes"),
            ("MD = a9993e36", "MD = a9993e3", "line 12: MD is not hex"),
            ("MD = a9993e364706816aba3e25717850c26c9cd0d89d", "MD =", "line 12: MD is not 20 bytes"),
            ("MD = a9993e364706816aba3e25717850c26c9cd0d89d\n", "", "the file ends where MD should stand"),
            ("MD = a9993e364706816aba3e25717850c26c9cd0d89d", "FAIL", "line 12: MD should stand here"),
            ("[L = 20]", "[L = 32]", "line 4: a section other than [L = 20]"),
            ("[L = 20]", "[L = 99999999999999999999]", "line 4: L is not a number in range"),
            ("[L = 20]", "[FOO]", "line 4: a record before [L = …]"),
            ("[L = 20]", "[L = 20", "text of no known vector format"),
            ("[L = 20]", "", "line 6: a record before [L = …]"),
            ("[L = 20]", "[]", "text of no known vector format"),
            ("Len = 24", "Len = 24 # a comment", "line 10: Len is not a number in range"),
            ("Len = 24", "[DECRYPT]\nLen = 24", "line 10: a section other than [L = 20]"),
        ]
        #expect(digest.count >= 32)
        for (part, broken, reason) in digest {
            let text = Self.short.replacing(part, with: broken)
            #expect(text != Self.short)
            #expect(outcome(text) == reason, "\(part) → \(broken)")
        }
    }

    @Test("every malformed AES file is rejected with its reason")
    func malformedBlocks() {
        let cases: [(String, String, String)] = [
            ("KEY = 2b7e", "KEY = 7e", "line 7: KEY is not an AES key"),
            ("KEY = 2b7e", "KEY = 2b7", "line 7: KEY is not hex"),
            ("KEY = 2b7e", "KEYs = 2b7e", "line 7: KEY should stand here"),
            ("IV = 0001", "IV = 01", "line 8: IV is not 16 bytes"),
            ("IV = 0001", "IV = 000001", "line 8: IV is not 16 bytes"),
            ("COUNT = 0", "COUNT = zero", "line 6: COUNT is not a number in range"),
            ("COUNT = 0", "COUNT = 99999999999999999999", "line 6: COUNT is not a number in range"),
            ("PLAINTEXT = 6bc1", "PLAINTEXT = c1", "line 6: not the same number of whole blocks"),
            (
                "PLAINTEXT = 6bc1bee22e409f96e93d7e117393172a", "PLAINTEXT =",
                "line 6: not the same number of whole blocks"
            ),
            ("[ENCRYPT]", "[ENCRYPTS]", "line 4: a section other than [ENCRYPT] and [DECRYPT]"),
            ("[ENCRYPT]", "[ENCRYPT = 1]", "line 4: a section other than [ENCRYPT] and [DECRYPT]"),
            ("[ENCRYPT]", "", "line 6: a record before [ENCRYPT] or [DECRYPT]"),
            ("[ENCRYPT]", "[ENCRYPT]\n[DECRYPT]", "line 5: a section other than [ENCRYPT] and [DECRYPT]"),
            ("[DECRYPT]", "", "line 14: COUNT does not rise"),
            ("MMT test", "MCT test", "line 6: a chain of 1 steps, not 100"),
            ("PLAINTEXT = 6bc1bee22e409f96e93d7e117393172a\nC", "C", "line 11: PLAINTEXT should stand here"),
        ]
        for (part, broken, reason) in cases {
            #expect(outcome(Self.cbc.replacing(part, with: broken)) == reason, "\(part) → \(broken)")
        }
    }

    @Test("a file cut off at any byte is rejected or has fewer cases, and no case of it fails")
    func truncation() {
        for text in [Self.short, Self.cbc] {
            let bytes = Array(text.utf8)
            for count in 0..<bytes.count {
                let result = outcome(Array(bytes.prefix(count)))
                // The last line may lose its newline; any other cut loses a case.
                #expect(result != passes(2) || count >= bytes.count - 2, "\(count)")
                #expect(!result.contains(" 1 failed"), "\(count)")
            }
        }
    }

    @Test("no bytes make a reader crash")
    func noise() {
        var state: UInt64 = 1
        for text in [Self.short, Self.cbc] {
            for _ in 0..<2000 {
                var bytes = Array(text.utf8)
                for _ in 0..<3 {
                    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    bytes[Int(state >> 33) % bytes.count] = UInt8(truncatingIfNeeded: state >> 56)
                }
                _ = outcome(bytes)
            }
        }
    }

    @Test("one flipped bit in any message, digest, key, IV or block is a failure")
    func mutation() {
        let digits: [(String, String, String)] = [
            (Self.short, "616263", "606263"), (Self.short, "a9993e", "b9993e"), (Self.short, "d89d", "d89c"),
            (Self.short, "Msg = 00\n", "Msg = 00\n"), (Self.cbc, "2b7e", "2b7f"), (Self.cbc, "IV = 00", "IV = 80"),
            (Self.cbc, "6bc1", "6bc0"), (Self.cbc, "197d", "197c"),
        ]
        for (text, part, flipped) in digits {
            let expected =
                part == flipped ? passes(2) : text == Self.short ? "1 passed, 1 failed" : "0 passed, 2 failed"
            #expect(outcome(text.replacing(part, with: flipped)).hasPrefix(expected), "\(part)")
        }
    }
}
