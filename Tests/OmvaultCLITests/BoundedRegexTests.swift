import Testing

@testable import omvault_full

@Suite struct BoundedRegexTests {
    @Test(
        "a pattern matches the texts that it describes",
        arguments: [
            ("b", ["abc", "B"], ["", "ac"]),
            ("^a.c$", ["abc", "a\nc", "aéc"], ["ac", "xabc", "abcx"]),
            ("^(db|web|)[0-9]+$", ["db1", "web22", "7"], ["db", "dbx1"]),
            ("^a{2}$", ["aa"], ["a", "aaa"]),
            ("^a{2,}$", ["aa", "aaaa"], ["a"]),
            ("^a{0,2}b?$", ["", "a", "aab", "b"], ["aaa", "bb"]),
            ("^[^a-c_]+$", ["xyz", "D"], ["b", "B", "x_"]),
            ("^[-\\]x]+$", ["-]x"], ["a"]),
            ("^\\w\\d\\s\\W\\D\\S$", ["a1 -ab", "Z0\t.x#"], ["a1 xab", "-1 -ab"]),
            ("^\\(\\.\\*$", ["(.*"], ["(a*"]),
            ("^(?:ab)*?$", ["", "abab"], ["aba"]),
            ("^(()*|a*)*$", ["", "aaa"], ["b"]),
            ("Ä", ["Ä"], ["ä", "A"]),
        ])
    func match(_ pattern: String, _ good: [String], _ bad: [String]) throws {
        let regex = try BoundedRegex(pattern)
        for text in good { #expect(regex.matches(text), "\(pattern) and \(text)") }
        for text in bad { #expect(!regex.matches(text), "\(pattern) and \(text)") }
    }

    @Test(
        "a wrong pattern is refused with the place of what is wrong",
        arguments: [
            ("", 1), ("a)", 2), ("x(a", 2), ("[a", 1), ("[]", 1), ("a[z-a]", 3), ("[[:alpha:]]", 2), ("a**", 3), ("*a", 1),
            ("a{", 2), ("a{3,2}", 2), ("a{1001}", 2), ("\\", 1), ("a\\b", 2), ("(?=a)", 1), ("[\\d-z]", 2),
            (String(repeating: "a", count: 1025), 1025),
        ])
    func refusal(_ pattern: String, _ position: Int) {
        #expect {
            _ = try BoundedRegex(pattern)
        } throws: { error in
            (error as? BoundedRegex.Problem)?.position == position
        }
    }

    @Test(
        "a short pattern cannot ask for more states than there may be",
        arguments: ["(a{99}){99}", "((a{999}){999}){999}", "((){999}){999}", "(((a?){99}){99}){99}", "(a|b|c){999}"])
    func states(_ pattern: String) {
        #expect {
            _ = try BoundedRegex(pattern)
        } throws: { error in
            (error as? BoundedRegex.Problem)?.words == "the pattern repeats too much"
        }
    }

    @Test("a pattern with thousands of groups is refused, and ends no process")
    func depth() {
        #expect(throws: BoundedRegex.Problem(position: 51, words: "too many groups inside each other")) {
            _ = try BoundedRegex(String(repeating: "(", count: 1000))
        }
    }

    /// A search that goes back and forth needs 2 to the power of 200 steps for this text.
    @Test("a pattern that can match in countless ways is compared in one pass", arguments: ["^(a|aa)+$", "^(a*)*$", "^(a|a?)+$"])
    func onePass(_ pattern: String) throws {
        let letters = String(repeating: "a", count: 200)
        let regex = try BoundedRegex(pattern)
        #expect(regex.matches(letters))
        #expect(!regex.matches(letters + "!"))
    }
}
