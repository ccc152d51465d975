import Testing

@testable import OMVectors

@Suite struct JSONReaderTests {
    static let wycheproof = """
        {"algorithm": "AES-CBC-PKCS5", "schema": "ind_cpa_test_schema_v1.json", "numberOfTests": 2, "notes": {},
         "testGroups": [{"type": "IndCpaTest", "keySize": 192, "ivSize": 128, "source": {},
          "tests": [{"tcId": 1, "comment": "", "flags": [], "key": "000102030405060708090a0b0c0d0e0f1011121314151617",
           "iv": "00000000000000000000000000000000", "msg": "736563726574206d657373616765",
           "ct": "2dd51a8e12e89fd714cadb7a4ecefde6", "result": "valid"},
          {"tcId": 2, "comment": "", "flags": [], "key": "000102030405060708090a0b0c0d0e0f1011121314151617",
           "iv": "00000000000000000000000000000000", "msg": "",
           "ct": "2dd51a8e12e89fd714cadb7a4ecefde7", "result": "invalid"}]}]}
        """

    static let native = """
        {"format": "omvault-vectors/1", "kind": "digest", "source": {"document": "FIPS 180-4", "section": "examples"},
         "notes": {}, "numberOfTests": 2, "groups": [{"params": {"hash": "sha256"}, "tests": [
         {"id": 1, "msg": "616263", "md": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
          "result": "valid", "flags": [], "comment": ""},
         {"id": 2, "msg": "616264", "md": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
          "result": "invalid", "flags": [], "comment": ""}]}]}
        """

    private func check(_ text: String, _ cases: [(String, String, String)]) {
        #expect(outcome(text) == passes(2))
        for (part, broken, expected) in cases {
            let changed = text.replacing(part, with: broken, maxReplacements: 1)
            #expect(changed != text, "\(part) is not there")
            #expect(outcome(changed) == expected, "\(part) → \(broken)")
        }
    }

    /// Changes of the text itself, whatever its meaning.
    private static let notJSON: [(String, String, String)] = [
        ("{", "{{", "not JSON, line 1: a member's name is missing"),
        ("{", "{,", "not JSON, line 1: a member's name is missing"),
        ("[]", "[", "not JSON, line 4: no value"),
        ("[]", "[1", "not JSON, line 4: an array does not end"),
        ("[]", "[1,]", "not JSON, line 4: no value"),
        ("[]", "[01]", "not JSON, line 4: a number with a leading zero"),
        ("[]", "[1.]", "not JSON, line 4: half a number"),
        ("[]", "[truth]", "not JSON, line 4: no value"),
        ("[]", "[\"\\x\"]", "not JSON, line 4: an unknown escape"),
        ("[]", "[\"\\ud800\"]", "not JSON, line 4: half a surrogate"),
        ("[]", "[\"\\u12\"]", "not JSON, line 4: four hex digits are missing"),
        ("[]", "[\"a\tb\"]", "not JSON, line 4: a control character within a string"),
        ("[]", String(repeating: "[", count: 64), "not JSON, line 4: nested too deeply"),
        ("[]", "[NaN]", "not JSON, line 4: no value"),
        ("[]", "[+1]", "not JSON, line 4: no value"),
    ]

    @Test("every malformed Wycheproof file is rejected with its reason, or its case fails")
    func wycheproof() {
        let line = { (number: Int) in
            Self.notJSON.map { part, broken, reason in
                (part, broken, reason.replacing("line 4", with: "line \(number)"))
            }
        }
        check(Self.wycheproof, line(3))
        let test = "file, testGroups 1, tests 1"
        let cases: [(String, String, String)] = [
            ("\"numberOfTests\": 2", "\"numberOfTests\": 3", "numberOfTests says 3, the file holds 2"),
            ("\"numberOfTests\": 2", "\"numberOfTests\": 1", "numberOfTests says 1, the file holds 2"),
            ("\"numberOfTests\": 2,", "", "file: numberOfTests is missing"),
            ("\"numberOfTests\": 2", "\"numberOfTests\": -2", "file: numberOfTests is not a number from 0"),
            ("\"numberOfTests\": 2", "\"numberOfTests\": 2.0", "file: numberOfTests is not a number from 0"),
            ("\"numberOfTests\": 2", "\"numberOfTests\": \"2\"", "file: numberOfTests is not a number from 0"),
            ("\"numberOfTests\": 2", "\"numberOfTests\": 2, \"numberOfTests\": 2", "not JSON, line 1: a member twice"),
            ("\"tcId\": 2", "\"tcId\": 1", "file, testGroups 1, tests 2: tcId 1 a second time"),
            ("\"tcId\": 2", "\"tcId\": null", "file, testGroups 1, tests 2: tcId is not a number from 0"),
            ("\"tcId\": 1, ", "", "\(test): tcId is missing"),
            ("\"valid\"", "\"Valid\"", "\(test): result is not valid, invalid or acceptable"),
            ("\"valid\"", "true", "\(test): result is not text"),
            (", \"result\": \"valid\"", "", "\(test): result is missing"),
            ("\"key\": \"0001", "\"key\": \"01", "\(test): key is not 24 bytes"),
            ("\"key\": \"0001", "\"key\": \"001", "\(test): key is not hex"),
            ("\"key\": \"0001", "\"key\": \"0x01", "\(test): key is not hex"),
            ("\"iv\": \"00", "\"iv\": \"", "\(test): iv is not 16 bytes"),
            ("\"iv\": \"00", "\"iv\": \"0000", "\(test): iv is not 16 bytes"),
            ("\"msg\": \"7365", "\"msg\": \"736", "\(test): msg is not hex"),
            ("\"msg\": \"7365", "\"message\": \"7365", "\(test): msg is missing"),
            ("\"ct\": \"2dd5", "\"ct\": \"2dd5\", \"ct\": \"2dd5", "not JSON, line 5: a member twice"),
            ("\"keySize\": 192", "\"keySize\": 128", "\(test): key is not 16 bytes"),
            ("\"keySize\": 192", "\"keySize\": 2147483648", skips(2)),
            ("\"keySize\": 192, ", "", "file, testGroups 1: keySize is missing"),
            ("\"ivSize\": 128", "\"ivSize\": 96", "file, testGroups 1: ivSize is not 128"),
            ("\"type\": \"IndCpaTest\"", "\"type\": 1", "file, testGroups 1: type is not text"),
            ("IndCpaTest", "OtherTest", skips(2)),
            ("AES-CBC-PKCS5", "AES-CBC-PKCS7", skips(2)),
            ("\"testGroups\": [", "\"testGroups\": [7, ", "file, testGroups 1: not an object"),
            ("\"testGroups\"", "\"groups\"", "JSON, but neither Wycheproof, ACVP nor omvault-vectors/1"),
            ("\"algorithm\": \"AES-CBC-PKCS5\"", "\"algorithm\": null", "file: algorithm is not text"),
            ("\"tests\": [", "\"tests\": {}, \"other\": [", "file, testGroups 1: tests is not an array"),
        ]
        #expect(cases.count >= 32)
        check(Self.wycheproof, cases)
    }

    @Test("every malformed omvault-vectors/1 file is rejected with its reason, or its case fails")
    func native() {
        check(Self.native, Self.notJSON)
        let test = "file, groups 1, tests 1"
        let cases: [(String, String, String)] = [
            ("omvault-vectors/1", "omvault-vectors/2", "format is not omvault-vectors/1"),
            ("\"omvault-vectors/1\"", "1", "file: format is not text"),
            ("\"format\"", "\"Format\"", "JSON, but neither Wycheproof, ACVP nor omvault-vectors/1"),
            ("\"kind\": \"digest\", ", "", "file: kind is missing"),
            ("\"digest\"", "\"blake\"", skips(2)),
            ("\"notes\": {}", "\"note\": {}", "file: unknown field “note”"),
            ("\"source\": {\"document\": \"FIPS 180-4\", \"section\": \"examples\"},", "", "file: source is missing"),
            ("\"section\": \"examples\"", "\"page\": 1", "file, source: section is missing"),
            ("\"document\": \"FIPS 180-4\", ", "", "file, source: tool is missing"),
            ("{\"document\": \"FIPS 180-4\", \"section\": \"examples\"}", "\"FIPS\"", "file, source: not an object"),
            ("\"numberOfTests\": 2", "\"numberOfTests\": 0", "numberOfTests says 0, the file holds 2"),
            (
                "\"numberOfTests\": 2", "\"numberOfTests\": 2147483648",
                "numberOfTests says 2147483648, the file holds 2"
            ),
            ("\"numberOfTests\": 2", "\"numberOfTests\": 1e400", "file: numberOfTests is not a number from 0"),
            ("\"groups\": [", "\"groups\": [null, ", "file, groups 1: not an object"),
            ("\"params\": {\"hash\": \"sha256\"}", "\"params\": {}", "file, groups 1, params: hash is missing"),
            (
                "{\"hash\": \"sha256\"}", "{\"hash\": \"sha256\", \"rounds\": 1}",
                "file, groups 1, params: unknown field “rounds”"
            ),
            ("sha256", "sha3-257", skips(2)),
            ("sha256", "sha512", "\(test): md is not 64 bytes"),
            ("\"id\": 1", "\"id\": 2", "file, groups 1, tests 2: id 2 a second time"),
            ("\"id\": 1", "\"id\": \"1\"", "\(test): id is not a number from 0"),
            ("\"id\": 1", "\"ID\": 1", "\(test): unknown field “ID”"),
            ("\"msg\": \"616263\"", "\"msg\": \"61626\"", "\(test): msg is not hex"),
            ("\"msg\": \"616263\"", "\"msg\": null", "\(test): msg is not text"),
            ("\"msg\": \"616263\"", "\"msg\": \"616263\", \"msg\": \"616263\"", "not JSON, line 3: a member twice"),
            ("\"msg\": \"616263\"", "\"mesg\": \"616263\"", "\(test): unknown field “mesg”"),
            ("\"msg\": \"616263\", ", "", "\(test): msg is missing"),
            ("\"md\": \"ba78", "\"md\": \"78", "\(test): md is not 32 bytes"),
            ("\"md\": \"ba78", "\"md\": \"ba7", "\(test): md is not hex"),
            ("\"md\": \"ba78", "\"md\": \"ba78 ", "\(test): md is not hex"),
            ("\"valid\"", "\"pass\"", "\(test): result is not valid, invalid or acceptable"),
            (
                "\"msg\": \"616263\"", "\"seed\": \"00\", \"checkpoints\": []",
                "\(test): checkpoints is not 1 to 100 digests"
            ),
            (
                "\"msg\": \"616263\"", "\"seed\": \"00\", \"checkpoints\": [1]",
                "\(test): checkpoints is not an array of hex"
            ),
            ("\"tests\": [", "\"tests\": null, \"more\": [", "file, groups 1: unknown field “more”"),
        ]
        #expect(cases.count >= 32)
        check(Self.native, cases)
    }

    @Test("a JSON file cut off at any byte is rejected")
    func truncation() {
        for text in [Self.wycheproof, Self.native] {
            let bytes = Array(text.utf8)
            for count in 0..<bytes.count {
                #expect(!outcome(Array(bytes.prefix(count))).contains("passed"), "\(count)")
            }
            #expect(outcome(text + " x").hasSuffix("something follows the value"))
            #expect(outcome(text + "\n") == passes(2))
        }
    }

    @Test("no bytes make a reader crash")
    func noise() {
        var state: UInt64 = 2
        for text in [Self.wycheproof, Self.native] {
            for _ in 0..<2000 {
                var bytes = Array(text.utf8)
                for _ in 0..<2 {
                    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    bytes[Int(state >> 33) % bytes.count] = UInt8(truncatingIfNeeded: state >> 56)
                }
                _ = outcome(bytes)
            }
        }
    }

    @Test("files that hold no vectors are named with their reason")
    func others() {
        #expect(outcome("") == "the file is empty")
        #expect(outcome(" \n") == "the file is blank")
        #expect(outcome([0x30, 0x82, 0x00]) == "not text: no vector format is binary")
        #expect(outcome([0xFF, 0xFE, 0x41]) == "not text: no vector format is binary")
        #expect(outcome("# A readme\n\nSome words.\n") == "text of no known vector format")
        #expect(outcome("[{\"vsId\": 1}]") == "JSON, but neither Wycheproof, ACVP nor omvault-vectors/1")
        #expect(outcome("{}") == "JSON, but neither Wycheproof, ACVP nor omvault-vectors/1")
        #expect(outcome("[]") == "JSON, but neither Wycheproof, ACVP nor omvault-vectors/1")
    }

    @Test("an accepted invalid case fails, and so does a valid case that is refused or differs")
    func verdicts() {
        let swapped = Self.wycheproof.replacing("\"invalid\"", with: "\"x\"").replacing(
            "\"valid\"", with: "\"invalid\""
        )
        .replacing("\"x\"", with: "\"valid\"")
        #expect(outcome(swapped) == "0 passed, 2 failed, 0 acceptable, 0 skipped")
        let wrong = Self.native.replacing("616263", with: "616265").replacing("\"invalid\"", with: "\"valid\"")
        #expect(outcome(wrong) == "0 passed, 2 failed, 0 acceptable, 0 skipped")
    }

    @Test("an acceptable case is counted apart when refused or right, and fails when wrong")
    func acceptable() {
        let refused = Self.wycheproof.replacing("\"invalid\"", with: "\"acceptable\"")
        #expect(outcome(refused) == "1 passed, 0 failed, 1 acceptable, 0 skipped")
        let right = Self.wycheproof.replacing("\"valid\"", with: "\"acceptable\"")
        #expect(outcome(right) == "1 passed, 0 failed, 1 acceptable, 0 skipped")
        let wrong = right.replacing("7365637265", with: "7365637264")
        #expect(outcome(wrong) == "1 passed, 1 failed, 0 acceptable, 0 skipped")
    }
}
