// The manual: man pages that groff renders without a warning, and the committed pages of docs/reference.

import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import OMShell
@testable import omvault_full

@Suite("The manual") struct ManualTests {
    private static let root = CommandPage.root()
    private static let repository = URL(filePath: #filePath).appending(path: "../../..").standardized

    /// All pages, as the program writes them: `share/man1` and `reference`. The tests themselves would take ten times as long.
    private static let written = Task {
        let folder = try TestFolder()
        for options in [["--install", "share"], ["--markdown", "--install", "reference"]] {
            let ran = try await run(
                [Programs.path(of: "omvault"), "-q", "manual"] + options, in: folder,
                environment: ["HOME": folder.path, "LC_ALL": "C.UTF-8"])
            try #require(ran.status == 0, "\(ran.errors)")
        }
        return folder
    }

    private static func text(_ page: String) async throws -> String {
        try String(contentsOfFile: try await written.value.file(page), encoding: .utf8)
    }

    /// The pages of docs/reference.
    private static func reference() async throws -> [(path: String, text: String)] {
        let commands = try FileManager.default.contentsOfDirectory(atPath: try await written.value.file("reference/commands"))
        var pages: [(String, String)] = []
        for path in commands.sorted().map({ "commands/" + $0 }) + ["exit-codes.md"] {
            pages.append((path, try await text("reference/" + path)))
        }
        return pages
    }

    @Test("docs/reference has the pages that omvault writes now; .ci/pages writes them again")
    func committed() async throws {
        let ran = try await bash(
            """
            diff -ru "$REFERENCE/commands" "$WRITTEN/commands" && diff -u "$REFERENCE/exit-codes.md" "$WRITTEN/exit-codes.md"
            """,
            environment: [
                "REFERENCE": Self.repository.appending(path: "docs/reference").path,
                "WRITTEN": try await Self.written.value.file("reference"),
            ])
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
    }

    @Test("no line of these pages is longer than 120 columns, save examples")
    func width() async throws {
        for (path, text) in try await Self.reference() {
            let prose = text.split(separator: "```").enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
            for line in prose.flatMap({ $0.split(separator: "\n") }) { #expect(line.count <= 120, "\(path): \(line)") }
        }
    }

    @Test("every command has both pages, with every argument and option that its help shows")
    func complete() async throws {
        // The beginnings of lines: - `LABEL`:
        let listed = Set(
            try await Self.reference().flatMap { $0.text.split(separator: "\n") }.filter { $0.hasPrefix("- `") }
                .compactMap { $0.dropFirst(3).split(separator: "`: ", maxSplits: 1).first })
        #expect(Self.root.all.count > 80)
        let shown = Dictionary(uniqueKeysWithValues: try await ShownHelp.wide.value.map { ($0.words, $0.page) })
        for page in Self.root.all {
            let labels = page.sections.flatMap { $0.entries.map(\.label) }
            let help = try #require(shown[page.words])
            for line in help.split(separator: "\n") where line.hasPrefix("  -") || line.hasPrefix("  <") {
                #expect(labels.contains { line.dropFirst(2).hasPrefix($0) }, "\(page.name) lacks \(line)")
            }
            let name = (["omvault"] + page.words).joined(separator: "-")
            let man = try await Self.text("share/man1/\(name).1").replacing("\\-", with: "-").replacing(/\\f[BIR]/, with: "")
            let manLines = Set(man.split(separator: "\n").map(String.init))
            for entry in page.sections.flatMap(\.entries) {
                #expect(manLines.contains(entry.label.filter { $0 != "<" && $0 != ">" }), "\(page.name): \(entry.label)")
                #expect(listed.contains(entry.label[...]), "\(page.name): \(entry.label)")
                #expect(!entry.text.isEmpty, "\(page.name): \(entry.label)")
            }
        }
    }

    @Test("groff renders every man page without a warning, and man finds its name")
    func rendered() async throws {
        let ran = try await bash(
            """
            cd "$WRITTEN/share/man1"
            groff -ww -man -Tutf8 -P-cbuo *.1 > ~/shown
            for page in *.1; do
                grep -q "^  *${page%.1} [−-] " ~/shown || echo "$page has no name"
            done
            ls | wc -l
            groff -man -Tutf8 -P-cbuo omvault-key-add-slot.1
            """, environment: ["WRITTEN": try await Self.written.value.path])
        #expect(ran.errors == "")
        #expect(ran.output.hasPrefix("\(Self.root.all.count)\n"), "\(ran.output.prefix(500))")
        #expect(ran.output.contains("\n       omvault key add-slot --type file --out /media/stick/personal.key\n"))
        #expect(ran.output.contains("\n       omvault key add-slot [options] --type type [user]\n"))
    }

    @Test(
        "text that looks like roff prints as itself",
        arguments: [
            ".SH NAME", "'ft B", "\\fBbold\\fR", "a \\", "\\n(.g \\*[x] \\(dq", "--long -o", "\"quoted\" 'single' `back`",
            "~ ^ | $1 <x>",
            "café “…” –", ".", "", ".\\\" comment", "%  two  spaces",
        ])
    func hostile(text: String) async throws {
        var page = Roff()
        page.macro("TH", "TEST", "1", "", "", "")
        page.macro("SH", "A \(text)")
        page.line([.roman(text)])
        page.macro("PP")
        page.line([.bold(text), .italic("end")])
        page.example([text, "  " + text])
        let ran = try await bash("printf %s \"$PAGE\" | groff -ww -man -Tutf8 -P-cbuo", environment: ["PAGE": page.text])
        let lines = ran.output.split(separator: "\n").map(String.init)
        #expect(ran.errors == "")
        #expect(lines.contains("       " + text) || text.isEmpty, "\(ran.output)")
        #expect(lines.contains("         " + text) || text.isEmpty, "\(ran.output)")
        #expect(lines.contains("A \(text)") || text.isEmpty, "\(ran.output)")
        #expect(lines.contains { $0.hasSuffix("end") }, "\(ran.output)")
    }

    @Test("what a user types is told from the prose around it")
    func spans() {
        #expect(
            ProseSpan.spans(of: "Run 'omvault key slots' (or --keyslot), it is the vault's; - is standard input, {x} a form.")
                == [
                    .plain("Run "), .typed("omvault key slots"), .plain(" (or "), .typed("--keyslot"),
                    .plain("), it is the vault's; "), .typed("-"), .plain(" is standard input, "), .typed("{x}"),
                    .plain(" a form."),
                ])
        #expect(ProseSpan.spans(of: "plain") == [.plain("plain")])
        #expect(ProseSpan.spans(of: "") == [])
    }

    @Test("a folder gets all pages or, if one is there, none; --force replaces pages, and nothing but pages")
    func install() async throws {
        let ran = try await bash(
            """
            umask 022; omvault manual --install a/b 2>&1; stat -c %a a/b/man1 a/b/man1/omvault.1
            rm a/b/man1/omvault.1; echo mine > a/b/man1/omvault-get.1
            refused 5 omvault manual --install a/b; cat .refused; cat a/b/man1/omvault-get.1; ls a/b/man1/omvault.1 2>&1
            omvault manual --install a/b --force --json
            rm a/b/man1/omvault-get.1; echo target > target; ln -s "$PWD/target" a/b/man1/omvault-get.1
            refused 2 omvault manual --install a/b --force; cat target
            """)
        let count = Self.root.all.count
        #expect(
            ran.output == """
                omvault: \(count) pages are in "a/b"
                755
                644
                omvault: error: "a/b/man1/omvault-init.1" already exists
                omvault: hint: --force replaces it
                mine
                ls: cannot access 'a/b/man1/omvault.1': No such file or directory
                {"schema":"omvault/1","folder":"a/b","pages":\(count)}
                target

                """, "\(ran.errors)")
    }

    @Test(
        "a word that is no command is refused, with the nearest one",
        arguments: [
            ("manual gett", "did you mean \"get\"?"), ("manual key slotz", "did you mean \"key slots\"?"),
            ("manual login ada", "give a command's words only"), ("manual get github", "give a command's words only"),
            ("manual get --install d", "omvault manual --help"), ("manual get --force", "omvault manual --help"),
            ("manual --install ''", "omvault manual --help"),
        ])
    func refused(line: String, hint: String) async throws {
        let ran = try await bash("omvault \(line)")
        #expect(ran.status == 2 && ran.output == "" && ran.errors.contains(hint), "\(ran.errors)")
    }

    @Test("the page of a command has the exit codes that its help names, and is of a command that there is")
    func exitCodes() {
        let pages = Self.root.all
        for (words, _) in CommandPage.ofCommands { #expect(pages.contains { $0.words == words }, "\(words)") }
        for page in pages where page.below.isEmpty {
            let text = page.paragraphs.joined(separator: "\n")
            let named = text.matches(of: /\s\((\d+)\)|(?:[Ee]xits? with|exit code is|is exit) (\d+)/)
            let codes = named.compactMap { Int32($0.1 ?? $0.2 ?? "") }
            let listed = page.exitStatuses.map(\.rawValue)
            for code in codes where ExitStatus(rawValue: code) != nil { #expect(listed.contains(code), "\(page.name): \(code)") }
        }
    }

    @Test("each exit code leads to its answer in docs/guide/questions.md, and no answer is left out")
    func questions() throws {
        let page = try String(contentsOf: Self.repository.appending(path: "docs/guide/questions.md"), encoding: .utf8)
        let headings = page.split(separator: "\n").filter { $0.wholeMatch(of: /## \d.*/) != nil }
            .map { $0.dropFirst(3).lowercased().replacing(/[^a-z0-9 -]/, with: "").replacing(" ", with: "-") }
        #expect(Set(headings) == Set(ExitStatus.allCases.compactMap(\.question)))
        for status in ExitStatus.allCases {
            guard let question = status.question else { continue }
            #expect(question.split(separator: "-").contains("\(status.rawValue)"), "\(status) leads to \(question)")
        }
    }
}
