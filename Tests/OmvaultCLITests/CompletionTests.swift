// What bash, zsh and fish themselves offer with the scripts of `omvault completion`.

import Foundation
import TestSupport
import Testing

/// A line, the part of its last word that is typed, and the words that the shell must offer for it.
private struct Question {
    let line: String
    let typed: String
    let offered: [String]

    init(_ line: String, _ typed: String, _ offered: [String]) {
        (self.line, self.typed, self.offered) = (line, typed, offered)
    }
}

private let items = [
    "github", "git lab", "it's", "say \"hi\"", "$(touch ran)", "`touch ran`", "x;touch ran", "$HOME", "*", "back\\slash",
    "!bang", "a#b", "über/münchen", "日本", "colon:x", "https://a.example:8443/x", "-dash", "~",
]

/// The words that stand for the items where a reference is read: quoted if it could be read otherwise.
private let references = items.map { ["colon:x", "https://a.example:8443/x", "-dash", "~"].contains($0) ? "\"\($0)\"" : $0 }

private let vaults = ["my vault", "personal", "work"]

private let questions = [
    Question("omvault get ", "", references),
    Question("omvault get ", "git", ["git lab", "github"]),
    Question("omvault get ", "\"git l", ["git lab"]),
    Question("omvault get ", "'it", ["it's"]),
    Question("omvault get ", "'$(", ["$(touch ran)"]),
    Question("omvault get ", "\"say", ["say \"hi\""]),
    Question("omvault get ", "\"ba", ["back\\slash"]),
    Question("omvault get ", "git\\ l", ["git lab"]),
    Question("omvault show ", "htt", ["\"https://a.example:8443/x\""]),
    Question("omvault get --reveal ", "über", ["über/münchen"]),
    Question("omvault cp github ", "日", ["日本"]),
    Question("omvault ls ", "colo", ["colon:x"]),
    Question("omvault get -- ", "-", ["-dash"]),
    Question("omvault restore ", "gon", ["gone"]),
    Question("omvault get ", "gon", []),
    Question("omvault get --vault work ", "", []),
    Question("omvault --vault work get ", "", []),
    Question("omvault get nothing ", "", []),
    Question("omvault frob ", "", []),
    Question("omvault get --vault ", "", vaults),
    Question("omvault --vault ", "", vaults),
    Question("omvault vault default ", "pers", ["personal"]),
    Question("omvault get ", "--vault=wo", ["--vault=work"]),
    Question("omvault login check ada --profile ", "", ["corp", "default"]),
    Question("omvault profile show ", "co", ["corp"]),
    Question("omvault add x --level ", "", ["after-first-unlock", "always", "when-unlocked"]),
    Question("omvault add x --type ", "ca", ["card"]),
    Question("omvault crypto hash --alg ", "sha51", ["sha512", "sha512-224", "sha512-256"]),
    Question("omvault crypto ", "key", ["keygen", "keyrm"]),
    Question("omvault --json crypto ", "key", ["keygen", "keyrm"]),
    Question("omvault manual key ", "add", ["add-slot"]),
    Question("omvault ", "comp", ["completion"]),
    Question("omvault get ", "--reve", ["--reveal"]),
    Question("omvault gen --wordlist ", "wor", ["words"]),
    Question("omvault add x --field ", "password=s", ["password=stdin"]),
    Question("omvault add x ", "--field=password=s", ["--field=password=stdin"]),
    Question("omvault add x --type login --field ", "pass", ["password="]),
    Question("omvault add x --tag ", "wo", ["work"]),
    Question("omvault tag github ", "", ["$(touch ran)", "two words", "work"]),
    Question("omvault ls --tag ", "tw", ["two words"]),
    Question("omvault find --attr ", "ty", ["type="]),
    Question("omvault find --attr ", "type=lo", ["type=login"]),
    Question("omvault find --attr ", "tag=wo", ["tag=work"]),
    Question("omvault ls --fields ", "name,mo", ["name,modified"]),
    Question("omvault audit --fail-on ", "weak,b", ["weak,breached"]),
    Question("omvault get github --field ", "", ["password", "token"]),
]

@Suite("Completion in the shells") struct CompletionTests {
    private static let script = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../Scripts/completion.bash").standardized.path

    @Test(
        "each shell offers the names as they are, runs none of them, and shows none of a locked vault",
        arguments: ["bash", "zsh", "fish"])
    func offers(shell: String) async throws {
        // Fish answers without a terminal.
        let ran = try await atTerminal(Self.start(shell), shell == "fish" ? [] : Self.dialogue)
        let parts = ran.output.components(separatedBy: "<found>\r\n")
        try #require(ran.status == 0 && parts.count == 2, "\(ran)")
        let found = Self.words(parts[1])
        for (number, question) in questions.enumerated() {
            // Without a word to offer, a shell leaves the line as it is. Fish completes files without asking omvault.
            let left = shell == "fish" || question.typed.isEmpty ? [] : [question.typed]
            let expected = question.offered.isEmpty ? left : question.offered
            #expect(found[number, default: []] == Set(expected), "\(shell): \(question.line)\(question.typed)")
        }
        #expect(!parts[1].contains("<ran>"), "a name was run")
        #expect(!ran.output.contains("name-at-work") && !ran.output.contains("assword of"), "\(ran.output)")
    }

    private static func start(_ shell: String) -> String {
        let files = [
            ("items", items.map { $0.contains(":") ? "\"\($0)\"" : $0 }), ("typed", questions.map { $0.line + $0.typed }),
            ("skips", questions.map { "\($0.line.split(separator: " ").count)" }),
        ]
        let written = files.map { "cat > \($0) <<'END'\n\($1.joined(separator: "\n"))\nEND\n" }.joined()
        return written + "bash '\(script)' \(shell)"
    }

    /// Where a quote is open, only one word can go, and Tab inserts it.
    private static var dialogue: [(prompt: String, answer: String?)] {
        let keys = questions.map { question in
            let insertion = question.typed.first.map { "\"'".contains($0) } == true ? "\t" : "\u{18}a"
            return question.line + question.typed + insertion + "\u{18}b"
        }
        let prompts = ["ready> "] + keys.map { _ in "<asked>" }
        return zip(prompts, keys + ["exit\n"]).map { ($0, $1) }
    }

    private static func words(_ text: String) -> [Int: Set<String>] {
        var found: [Int: Set<String>] = [:]
        for line in text.components(separatedBy: "\r\n") {
            let parts = line.split(separator: "\t", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            if parts.count == 2, let number = Int(parts[0]) { found[number, default: []].insert(parts[1]) }
        }
        return found
    }
}
