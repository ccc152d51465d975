import Foundation
import TestSupport
import Testing

@testable import OMVectors

@Suite struct PolicyTests {
    private static let text = """
        {"format": "omvault-policy/1", "otherwise": "either", "flags": {
         "Twist": {"rule": "accept", "reason": "RFC 7748"}, "XDH/Twist": {"rule": "refuse", "reason": "ours"},
         "LowOrder": {"rule": "refuse", "reason": "RFC 7748"}, "Odd": {"rule": "either", "reason": "of no matter"}}}
        """

    private func policy(_ text: String) throws(VectorsError) -> AcceptancePolicy {
        try AcceptancePolicy(parsing: Array(text.utf8))
    }

    private func rule(_ flags: [String], _ algorithm: String = "AES") throws -> AcceptancePolicy.Rule {
        try policy(Self.text).rule(
            for: VectorCase(id: "1", algorithm: algorithm, expectation: .acceptable, flags: flags, plan: .skip("")))
    }

    @Test("a flag for refusal overrides a flag for acceptance, and the algorithm's own line overrides both")
    func precedence() throws {
        #expect(try rule([]) == .either)
        #expect(try rule(["Unknown"]) == .either)
        #expect(try rule(["Twist", "Unknown"]) == .accept)
        #expect(try rule(["Twist", "LowOrder"]) == .refuse)
        #expect(try rule(["LowOrder", "Twist"]) == .refuse)
        #expect(try rule(["Odd", "Twist"]) == .accept)
        #expect(try rule(["Odd"]) == .either)
        #expect(try rule(["Twist"], "XDH") == .refuse)
        let strict = try policy(Self.text.replacing("\"otherwise\": \"either\"", with: "\"otherwise\": \"refuse\""))
        let unflagged = VectorCase(id: "1", algorithm: "AES", expectation: .acceptable, plan: .skip(""))
        #expect(strict.rule(for: unflagged) == .refuse)
    }

    @Test("an acceptable case fails with its flag when it breaks the policy, and a wrong output always fails")
    func verdicts() throws {
        let policy = try policy(Self.text)
        let grade = { (flags: [String], outcome: CheckOutcome) in
            VectorCase(id: "1", algorithm: "AES", expectation: .acceptable, flags: flags, plan: .skip(""))
                .grade(outcome, by: policy)
        }
        #expect(grade(["Twist"], .agrees) == .acceptable(wasAccepted: true))
        #expect(
            grade(["Twist"], .refused("no"))
                == .failed("acceptable, Twist: refused (no), which the policy accepts"))
        #expect(grade(["LowOrder"], .refused("no")) == .acceptable(wasAccepted: false))
        #expect(grade(["LowOrder"], .agrees) == .failed("acceptable, LowOrder: accepted, which the policy refuses"))
        #expect(grade([], .agrees) == .acceptable(wasAccepted: true))
        #expect(grade([], .refused("no")) == .acceptable(wasAccepted: false))
        for flags in [[], ["Twist"], ["LowOrder"]] { #expect(grade(flags, .differs("another")) == .failed("another")) }
    }

    @Test("a policy changes the result of a file")
    func file() throws {
        let folder = try TestFolder()
        let acceptable = JSONReaderTests.wycheproof.replacing("\"invalid\"", with: "\"acceptable\"").replacing(
            "\"flags\": []", with: "\"flags\": [\"Strange\", \"Odd\"]")
        try folder.write(acceptable, to: "aes.json")
        let file = try #require(try VectorRunner.files(["\(folder.path)/aes.json"]).first)
        #expect(VectorRunner.verify(file).acceptances == [AcceptableCases(flags: "Strange, Odd", accepted: 0, refused: 1)])
        let graded = VectorRunner.verify(
            file,
            policy: try policy(
                Self.text.replacing("LowOrder", with: "Strange").replacing(
                    "\"refuse\", \"reason\": \"RFC", with: "\"accept\", \"reason\": \"RFC")))
        #expect(graded.failures.map(\.id) == ["2"])
        #expect(graded.acceptable == 0)
    }

    @Test("the policy in docs/reference/vectors.md is the policy in use")
    func documented() throws {
        let page = try String(contentsOf: repository.appending(path: "docs/reference/vectors.md"), encoding: .utf8)
        let block = try #require(page.split(separator: "```json\n").first { $0.contains("omvault-policy/1\"") })
        let written = try policy(String(block.prefix(upTo: try #require(block.firstRange(of: "```")).lowerBound)))
        let lines = { (policy: AcceptancePolicy) in policy.lines.map { "\($0.flag) \($0.rule) \($0.reason)" }.sorted() }
        #expect(lines(written) == lines(.standard))
        #expect(written.otherwise == AcceptancePolicy.standard.otherwise)
    }

    @Test("every malformed policy is refused with its reason")
    func malformed() {
        let line = "\"Twist\": {\"rule\": \"accept\", \"reason\": \"RFC 7748\"}"
        let cases: [(String, String, String)] = [
            ("{\"format\"", "\"format\"", "not JSON, line 1: something follows the value"),
            ("{\"format\"", "[{\"format\"", "not JSON, line 3: an array does not end"),
            ("\"omvault-policy/1\"", "\"omvault-policy/2\"", "file: format is not omvault-policy/1"),
            ("\"omvault-policy/1\"", "1", "file: format is not text"),
            ("\"format\": \"omvault-policy/1\", ", "", "file: format is missing"),
            ("\"format\"", "\"Format\"", "file: unknown field “Format”"),
            ("\"either\", \"flags\"", "\"both\", \"flags\"", "file: otherwise is not accept, refuse or either"),
            ("\"either\", \"flags\"", "\"Either\", \"flags\"", "file: otherwise is not accept, refuse or either"),
            ("\"either\", \"flags\"", "true, \"flags\"", "file: otherwise is not text"),
            ("\"otherwise\": \"either\", ", "", "file: otherwise is missing"),
            ("\"otherwise\": \"either\"", "\"otherwise\": \"either\", \"note\": 1", "file: unknown field “note”"),
            ("\"flags\": {", "\"flags\": [", "not JSON, line 2: an array does not end"),
            ("\"flags\"", "\"flag\"", "file: unknown field “flag”"),
            (line, "\"Twist\": \"accept\"", "file, flags, Twist: not an object"),
            (line, "\"Twist\": null", "file, flags, Twist: not an object"),
            (line, "\"Twist\": {}", "file, flags, Twist: reason is missing"),
            (line, "\"Twist\": {\"rule\": \"accept\"}", "file, flags, Twist: reason is missing"),
            (line, "\"Twist\": {\"reason\": \"so\"}", "file, flags, Twist: rule is missing"),
            (line, line + ", " + line, "not JSON, line 2: a member twice"),
            ("\"accept\"", "\"ACCEPT\"", "file, flags, Twist: rule is not accept, refuse or either"),
            ("\"accept\"", "\"\"", "file, flags, Twist: rule is not accept, refuse or either"),
            ("\"accept\"", "1", "file, flags, Twist: rule is not text"),
            ("\"accept\"", "[\"accept\"]", "file, flags, Twist: rule is not text"),
            ("\"RFC 7748\"", "\"\"", "file, flags, Twist: reason is not a reason"),
            ("\"RFC 7748\"", "7748", "file, flags, Twist: reason is not text"),
            ("\"RFC 7748\"", "\"RFC 7748\", \"since\": 1", "file, flags, Twist: unknown field “since”"),
            ("\"RFC 7748\"", "\"RFC \u{1}\"", "not JSON, line 2: a control character within a string"),
            ("\"RFC 7748\"", "\"RFC 7748\",", "not JSON, line 2: a member's name is missing"),
            ("\"Twist\": ", "\"\": ", "file, flags, : reason is not a reason"),
            ("\"Twist\": ", "Twist: ", "not JSON, line 2: a member's name is missing"),
            ("\"Twist\": ", "\"Twist\" ", "not JSON, line 2: a colon is missing"),
            ("}}}", "}}", "not JSON, line 3: an object does not end"),
            ("}}}", "}}} {}", "not JSON, line 3: something follows the value"),
        ]
        #expect(cases.count >= 32)
        for (part, broken, reason) in cases {
            let changed = Self.text.replacing(part, with: broken, maxReplacements: 1)
            #expect(changed != Self.text, "\(part) is not there")
            #expect(throws: VectorsError.policy(reason: reason), "\(part) → \(broken)") { try policy(changed) }
        }
        #expect(throws: VectorsError.policy(reason: "not UTF-8 text of at most 1 MiB")) {
            try AcceptancePolicy(parsing: [0xFF])
        }
    }
}
