import Foundation
import OMCrypto
import OMSecrets
import TestSupport
import Testing

@testable import OMVectors

@Suite struct ACVPReaderTests {
    static let prompt = """
        [{"acvVersion": "1.0"}, {"vsId": 7, "algorithm": "SHA2-256", "revision": "1.0", "isSample": true,
         "testGroups": [{"tgId": 1, "testType": "AFT", "tests": [
         {"tcId": 1, "len": 24, "msg": "616263"}, {"tcId": 2, "len": 0, "msg": ""}]}]}]
        """
    static let expected = """
        [{"acvVersion": "1.0"}, {"vsId": 7, "algorithm": "SHA2-256", "testGroups": [{"tgId": 1, "tests": [
         {"tcId": 1, "md": "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD"},
         {"tcId": 2, "md": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}]}]}]
        """

    private func outcome(_ prompt: String, _ expected: String?, named name: String = "SHA.json") throws -> String {
        let folder = try TestFolder()
        try folder.write(prompt, to: name)
        if let expected { try folder.write(expected, to: "SHA.expected.json") }
        return try folder.outcome(name)
    }

    @Test("a prompt is run with the expected results beside it, and both are named as a pair")
    func pair() throws {
        let folder = try TestFolder()
        try folder.write(Self.prompt, to: "SHA.json")
        try folder.write(Self.expected, to: "SHA.expected.json")
        #expect(try folder.outcome("SHA.json") == passes(2))
        #expect(try folder.outcome("SHA.expected.json") == "the expected results of the ACVP prompt beside them")
        #expect(try report([folder.path]).summary == passes(2))
        #expect(try report([folder.path]).isProof(failOnSkip: true))
    }

    @Test("each half alone is named as a half, and proves nothing")
    func halves() throws {
        #expect(try outcome(Self.prompt, nil) == skips(2))
        let folder = try TestFolder()
        try folder.write(Self.expected, to: "SHA.expected.json")
        let alone = "the expected results of an ACVP file, but the prompt is not beside them"
        #expect(try folder.outcome("SHA.expected.json") == alone)
        #expect(OMVectorsTests.outcome(Self.expected) == alone)
        #expect(try !report([folder.path]).isProof())
    }

    @Test("the file names of NIST's own server are a pair too, and a set may lack its array")
    func serverNames() throws {
        let folder = try TestFolder()
        let set = { (text: String) in String(text.dropFirst(text.distance(of: "{\"vsId\"")).dropLast(1)) }
        try folder.write(set(Self.prompt), to: "prompt.json")
        try folder.write(set(Self.expected), to: "expectedResults.json")
        #expect(try folder.outcome("prompt.json") == passes(2))
        #expect(try folder.outcome("expectedResults.json") == "the expected results of the ACVP prompt beside them")
    }

    @Test("a test without a result is skipped, testPassed: false must be refused, and vsId may be missing")
    func results() throws {
        let short = Self.expected.replacing("\"tcId\": 2", with: "\"tcId\": 1").replacing(
            #"{"tcId": 1, "md": "BA"#, with: #"{"tcId": 1, "md": "ba"#)
        #expect(try outcome(Self.prompt, short) == "expected set 1, testGroups 1, tests 2: tcId 1 a second time")
        let one = "[{}, {\"testGroups\": [{\"tgId\": 1, \"tests\": [{\"tcId\": 1, \"md\": \"\(Self.abc)\"}]}]}]"
        #expect(try outcome(Self.prompt, one) == "1 passed, 0 failed, 0 acceptable, 1 skipped")
        let refused = one.replacing("\"md\"", with: "\"testPassed\": false, \"md\"")
        #expect(try outcome(Self.prompt, refused) == "0 passed, 1 failed, 0 acceptable, 1 skipped")
        let wrong = refused.replacing("ba78", with: "ba79")
        #expect(try outcome(Self.prompt, wrong) == "1 passed, 0 failed, 0 acceptable, 1 skipped")
    }

    private static let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

    @Test("every malformed prompt is rejected with its reason")
    func malformedPrompts() throws {
        let test = "vector set 1, testGroups 1, tests 1"
        let cases: [(String, String, String)] = [
            ("[{\"acv", "[{{\"acv", "not JSON, line 1: a member's name is missing"),
            ("\"tests\": [", "\"tests\": [7, ", "vector set 1, testGroups 1, tests 1: not an object"),
            ("\"tests\": [", "\"tests\": {\"a\": [", "not JSON, line 3: an object does not end"),
            ("\"tests\"", "\"test\"", "vector set 1, testGroups 1: tests is missing"),
            ("\"testGroups\": [", "\"testGroups\": [7, ", "vector set 1, testGroups 1: not an object"),
            ("\"testGroups\": [", "\"testGroups\": 7, \"other\": [", "vector set 1: testGroups is not an array"),
            ("\"testGroups\"", "\"groups\"", "JSON, but neither Wycheproof, ACVP nor omvault-vectors/1"),
            ("\"testType\": \"AFT\"", "\"testType\": 7", "vector set 1, testGroups 1: testType is not text"),
            ("\"algorithm\": \"SHA2-256\", ", "", "vector set 1: algorithm is missing"),
            (
                "\"algorithm\": \"SHA2-256\"", "\"algorithm\": 1",
                "vector set 1: the prompt and the expected results disagree on algorithm"
            ),
            (
                "SHA2-256", "SHA2-512",
                "vector set 1: the prompt and the expected results disagree on algorithm"
            ),
            ("\"vsId\": 7", "\"vsId\": 8", "vector set 1: the prompt and the expected results disagree on vsId"),
            ("\"vsId\": 7", "\"vsId\": \"7\"", "vector set 1: the prompt and the expected results disagree on vsId"),
            ("\"AFT\"", "\"XFT\"", skips(2)), ("\"AFT\"", "\"LDT\"", "\(test): largeMsg is missing"),
            ("\"tcId\": 1", "\"tcId\": 2", "vector set 1, testGroups 1, tests 2: tcId 2 a second time"),
            ("\"tcId\": 1", "\"tcId\": \"1\"", "\(test): tcId is not a number from 0"),
            ("\"tcId\": 1", "\"tcId\": -1", "\(test): tcId is not a number from 0"),
            ("\"tcId\": 1", "\"tcId\": 1.0", "\(test): tcId is not a number from 0"),
            ("\"tcId\": 1, ", "", "\(test): tcId is missing"),
            ("\"tcId\": 1", "\"tcId\": 3", "expected set 1: results for 1 tests that the prompt has not"),
            (
                ", {\"tcId\": 2, \"len\": 0, \"msg\": \"\"}", "",
                "expected set 1: results for 1 tests that the prompt has not"
            ),
            ("\"len\": 24", "\"len\": 16", "\(test): msg is not the 16 bits that the record announces"),
            ("\"len\": 24", "\"len\": 32", "\(test): msg is not the 32 bits that the record announces"),
            (
                "\"len\": 24", "\"len\": 9223372036854775800",
                "\(test): msg is not the 9223372036854775800 bits that the record announces"
            ),
            ("\"len\": 24", "\"len\": 23", "1 passed, 0 failed, 0 acceptable, 1 skipped"),
            ("\"len\": 24", "\"len\": \"24\"", "\(test): len is not a number from 0"),
            ("\"len\": 24, ", "", "\(test): len is missing"),
            ("\"msg\": \"616263\"", "\"msg\": \"61626\"", "\(test): msg is not hex"),
            ("\"msg\": \"616263\"", "\"msg\": \"61 62 63\"", "\(test): msg is not hex"),
            ("\"msg\": \"616263\"", "\"msg\": null", "\(test): msg is not text"),
            ("\"msg\": \"616263\"", "\"message\": \"616263\"", "\(test): msg is missing"),
            (
                "\"msg\": \"616263\"", "\"msg\": \"616263\", \"md\": \"00\"",
                "\(test): the prompt and the expected results disagree on md"
            ),
            ("[{\"acvVersion\": \"1.0\"}, ", "[", "1 vector sets, but expected results for 1"),
        ]
        #expect(cases.count >= 32)
        for (part, broken, reason) in cases where !reason.hasPrefix("1 vector sets") {
            let changed = Self.prompt.replacing(part, with: broken, maxReplacements: 1)
            #expect(changed != Self.prompt, "\(part) is not there")
            let result = try outcome(changed, Self.expected)
            #expect(result == reason, "\(part) → \(broken)")
        }
        #expect(
            try outcome(Self.prompt.replacing("}]}]}]", with: "}]}]}, 7]"), Self.expected)
                == "vector set 2: not an object")
        #expect(try outcome(Self.prompt + "\nEOF.", Self.expected) == "not JSON, line 4: something follows the value")
    }

    @Test("every malformed file of expected results rejects its prompt with the reason")
    func malformedResults() throws {
        let test = "expected set 1, testGroups 1, tests 1"
        let cases: [(String, String, String)] = [
            ("[{", "", "the expected results: not JSON, line 1: something follows the value"),
            ("\"md\": \"BA78", "\"md\": \"BA7", "vector set 1, testGroups 1, tests 1: md is not hex"),
            ("\"md\": \"BA78", "\"md\": \"78", "vector set 1, testGroups 1, tests 1: md is not 32 bytes"),
            ("\"md\": \"BA78", "\"mac\": \"BA78", "vector set 1, testGroups 1, tests 1: md is missing"),
            (
                "\"md\": \"BA78", "\"testPassed\": 1, \"md\": \"BA78",
                "vector set 1, testGroups 1, tests 1: testPassed is not true or false"
            ),
            ("\"tcId\": 1", "\"tcId\": null", "\(test): tcId is not a number from 0"),
            ("\"tests\"", "\"test\"", "expected set 1, testGroups 1: tests is missing"),
            ("\"testGroups\"", "\"groups\"", "expected set 1: testGroups is missing"),
            (
                "{\"acvVersion\": \"1.0\"}, ", "{\"acvVersion\": \"1.0\"}, {\"testGroups\": []}, ",
                "1 vector sets, but expected results for 2"
            ),
        ]
        for (part, broken, reason) in cases {
            let changed = Self.expected.replacing(part, with: broken, maxReplacements: 1)
            #expect(changed != Self.expected, "\(part) is not there")
            let result = try outcome(Self.prompt, changed)
            #expect(result == reason, "\(part) → \(broken)")
        }
        #expect(try outcome(Self.prompt, "") == "the expected results: not JSON, line 1: the file ends within a value")
    }

    @Test("a Monte Carlo test reads its hundred results from resultsArray, and one wrong bit in any of them fails")
    func monteCarlo() throws {
        let folder = try TestFolder()
        let results = { (count: Int) in
            (0..<count).map { _ in "{\"md\": \"\(String(repeating: "00", count: 20))\"}" }.joined(separator: ",")
        }
        let prompt = """
            [{}, {"algorithm": "SHA-1", "testGroups": [{"tgId": 1, "testType": "MCT", "tests": [
             {"tcId": 1, "len": 160, "msg": "dd4df644eaf3d85bace2b21accaa22b28821f5cd"}]}]}]
            """
        let expected = { (count: Int) in
            "[{}, {\"testGroups\": [{\"tests\": [{\"tcId\": 1, \"resultsArray\": [\(results(count))]}]}]}]"
        }
        try folder.write(prompt, to: "SHA.json")
        try folder.write(expected(100), to: "SHA.expected.json")
        #expect(try folder.outcome("SHA.json") == oneFails)
        try folder.write(expected(99), to: "SHA.expected.json")
        #expect(
            try folder.outcome("SHA.json") == "vector set 1, testGroups 1, tests 1: resultsArray is not 100 results")
        try folder.write(prompt.replacing("MCT\"", with: "MCT\", \"mctVersion\": \"alternate\""), to: "SHA.json")
        #expect(try folder.outcome("SHA.json") == skips(1))
    }

    /// NIST's ACVP sample EDDSA-SigVer-1.0, tcId 2.
    private static let edwards = """
        {"vsId": 0, "algorithm": "EDDSA", "mode": "sigVer", "revision": "1.0", "isSample": true, "testGroups": [
         {"tgId": 1, "testType": "AFT", "curve": "ED-25519", "preHash": false, "tests": [
          {"tcId": 2, "testPassed": true, "reason": "none",
           "message": "66425F47DCEECFD484487EB0F09DCD81289A2B02C9A614DB2C9675CA1C40D5BF031B06CEFE0CA0754D5716AC8A3930E0\
        714BDCC5C642A56D105E537D631C2B9BF508EA217E3ECC045FF1446E14253A8013D9E748DCCAC8EE3C850DCB11006691C62BD1C4BA44BA\
        5893B88F8E30E2F21E29657DCAADF1C6C6CDA46538965FBDEF",
           "d": "7550074364E591A3943AA2919692A1BEA42ACFEFE706173215299FD55DEDCE5C",
           "q": "8BB2163F51BC8DB85218B33F7946F7FDB5A195202B64ED2F5DDBA85D198D956A",
           "signature": "12F1F3FD5CCA5614CDC9D36CF718A09161072BFDD048532D6EEE0974FC39DD7AC051BA1DB845EAD3EE2F0E9A4EBB\
        2FB42945C729A0A078BF10365C1349C2C009"}]}]}
        """

    @Test("prompt and results in one file need no other file, and invalid cases must be refused")
    func projection() throws {
        let folder = try TestFolder()
        for name in ["internalProjection.json", "other.json"] {
            try folder.write(Self.edwards, to: name)
            #expect(try folder.outcome(name) == passes(1))
        }
        try folder.write(Self.edwards.replacing("\"testPassed\": true", with: "\"testPassed\": false"), to: "other.json")
        #expect(try folder.outcome("other.json") == oneFails)
        try folder.write(Self.edwards.replacing("\"signature\": \"12", with: "\"signature\": \"13"), to: "other.json")
        #expect(try folder.outcome("other.json") == oneFails)
        for (part, other) in [("ED-25519", "ED-448"), ("\"preHash\": false", "\"preHash\": true")] {
            try folder.write(Self.edwards.replacing(part, with: other), to: "other.json")
            #expect(try folder.outcome("other.json") == skips(1))
        }
        try folder.write("{\"algorithm\": \"EDDSA\", \"revision\": \"1.0\", \"curve\": []}", to: "registration.json")
        #expect(try folder.outcome("registration.json") == "an ACVP registration: what a module can do")
        try folder.write("{\"vsId\": 0, \"disposition\": \"passed\", \"tests\": []}", to: "validation.json")
        #expect(try folder.outcome("validation.json") == "an ACVP validation: what a server answered")
    }

    @Test("expected results are found under the names of NIST's server and of its clients")
    func names() throws {
        for (prompt, expected) in [
            ("prompt.json", "expectedResults.json"), ("testvector-request.json", "testvector-expected.json"),
            ("SHA.json", "SHA.expected.json"), ("sha-prompt.json", "sha-expected.json"),
        ] {
            let folder = try TestFolder()
            try folder.write(Self.prompt, to: prompt)
            #expect(try folder.outcome(prompt) == skips(2))
            try folder.write(Self.expected, to: expected)
            #expect(try folder.outcome(prompt) == passes(2))
            #expect(try folder.outcome(expected) == "the expected results of the ACVP prompt beside them")
        }
    }

    @Test("a large message repeats its content, even if it ends within one repetition")
    func largeData() throws {
        let content: [UInt8] = [0x61, 0x62, 0x63]
        let count = 2_000_000
        let whole = (0..<count).map { content[$0 % 3] }
        let digest = Hex.encode(try Digest.of(whole, .sha256))
        let text = """
            {"vsId": 1, "algorithm": "SHA2-256", "testGroups": [{"tgId": 1, "testType": "LDT", "tests": [{"tcId": 1,
             "deferred": false, "md": "\(digest)", "largeMsg": {"content": "616263", "contentLength": 24,
             "fullLength": \(count * 8), "expansionTechnique": "repeating"}}]}]}
            """
        let result = { (text: String) in OMVectorsTests.outcome(text) }
        #expect(result(text) == passes(1))
        #expect(result(text.replacing("\(count * 8)", with: "\(count * 8 + 8)")) == oneFails)
        #expect(result(text.replacing("\(count * 8)", with: "68719476744")) == skips(1))
        #expect(result(text.replacing("repeating", with: "counting")) != passes(1))
    }
}

extension String {
    fileprivate func distance(of part: String) -> Int {
        range(of: part).map { distance(from: startIndex, to: $0.lowerBound) } ?? 0
    }
}
