internal import OMShell

/// A command's man page: roff in section 1, as `man` shows it.
///
///     omvault manual key add-slot | man -l -
enum ManPage {
    /// `omvault-key-add-slot`; a file has ".1" behind it.
    static func name(_ words: [String]) -> String { (["omvault"] + words).joined(separator: "-") }

    /// Each page, by its path below a folder of man pages.
    static func all(_ root: CommandPage) -> [(path: String, text: String)] {
        root.all.map { ("man1/\(name($0.words)).1", text($0)) }
    }

    static func text(_ page: CommandPage) -> String {
        var roff = Roff()
        roff.comment("Written by '\((["omvault manual"] + page.words).joined(separator: " "))'.")
        roff.macro("TH", name(page.words).uppercased(), "1", "", "omvault \(VersionAnswer.version)", "Manual of omvault")
        // No word is broken and no line is stretched: both would make it hard to copy from the page.
        roff.macro("nh")
        roff.macro("ad l")
        roff.macro("SH", "NAME")
        roff.line([.roman("\(name(page.words)) - \(asPhrase(page.abstract))")])
        roff.macro("SH", "SYNOPSIS")
        roff.line(parts(page.usage))
        roff.macro("SH", "DESCRIPTION")
        for (index, paragraph) in ([page.abstract] + page.paragraphs).enumerated() {
            if index > 0 { roff.macro("PP") }
            roff.paragraph(paragraph)
        }
        if !page.examples.isEmpty {
            roff.macro("SH", "EXAMPLES")
            roff.example(page.examples)
        }
        for group in page.groups { add(group, to: &roff) }
        for section in page.sections { add(section, to: &roff) }
        addExitCodes(page, to: &roff)
        addReferences(page, to: &roff)
        return roff.text
    }

    /// `Print a secret, or show an item.` behind a name: `print a secret, or show an item`.
    private static func asPhrase(_ sentence: String) -> String {
        let words = sentence.hasSuffix(".") ? sentence.dropLast() : sentence[...]
        return words.prefix(1).lowercased() + words.dropFirst()
    }

    private static func add(_ group: (name: String, pages: [CommandPage]), to roff: inout Roff) {
        roff.macro("SH", group.name.isEmpty ? "COMMANDS" : group.name.uppercased())
        for page in group.pages {
            roff.macro("TP")
            roff.line(reference(page.words))
            roff.paragraph(page.abstract)
        }
    }

    private static func add(_ section: CommandPage.Section, to roff: inout Roff) {
        roff.macro("SH", section.title)
        for entry in section.entries {
            roff.macro("TP")
            roff.line(parts(entry.label))
            roff.paragraph(entry.text)
        }
    }

    private static func addExitCodes(_ page: CommandPage, to roff: inout Roff) {
        guard !page.endsAsAnotherProgram else { return }
        roff.macro("SH", "EXIT STATUS")
        for status in page.exitStatuses {
            roff.macro("TP 5")
            roff.line([.bold("\(status.rawValue)")])
            roff.paragraph(status.meaning)
        }
        guard !page.words.isEmpty else { return }
        roff.macro("PP")
        roff.paragraph("These are the codes that a script has to expect. 'omvault exit-codes' lists all.")
    }

    private static func addReferences(_ page: CommandPage, to roff: inout Roff) {
        var others = page.words.indices.map { Array(page.words[..<$0]) } + page.mentioned
        if page.words.isEmpty { others.append(["manual"]) }
        roff.macro("SH", "SEE ALSO")
        roff.line(Array(others.map(reference).joined(separator: [.roman(", ")])))
    }

    /// `omvault-get(1)`
    private static func reference(_ words: [String]) -> [Roff.Part] { [.bold(name(words)), .roman("(1)")] }

    /// `-o, --out <file>`: the words in bold, the placeholder in italics and without its brackets.
    private static func parts(_ usage: String) -> [Roff.Part] {
        var parts: [Roff.Part] = []
        var end = usage.startIndex
        // Brackets, dots and commas around the words are not typed.
        for match in usage.matches(of: /<([^>]+)>|[^\s\[\],.<>]+/) {
            if end < match.range.lowerBound { parts.append(.roman(String(usage[end..<match.range.lowerBound]))) }
            parts.append(match.1.map { .italic(String($0)) } ?? .bold(String(match.0)))
            end = match.range.upperBound
        }
        return end < usage.endIndex ? parts + [.roman(String(usage[end...]))] : parts
    }
}
