// The words for a command line that the parser refuses, and the refusal of what it would misread.

internal import OMShell

/// Suggestions are in the hint, together with the command's help.
enum UsageError {
    /// ArgumentParser's message about the arguments of a command.
    ///
    /// - Parameter verb: The words that call the command.
    static func failure(_ message: String, of verb: [String]) -> Failure {
        // Its longer messages have several lines.
        let line = message.split(whereSeparator: \.isNewline).map { $0.trimmed }.joined(separator: " ")
            // A list of values with more than three is one line for each.
            .replacing(/one of the following: - .*/) { $0.0.replacing(" - ", with: ", ").replacing(":,", with: ":") }
        let parts = line.split(separator: ". Did you mean ", maxSplits: 1).map(String.init)
        // USER is the argument's own name.
        let isName = parts[0].dropFirst().first?.isUppercase == true
        let error = isName ? parts[0] : parts[0].prefix(1).lowercased() + parts[0].dropFirst()
        let help = help(of: verb)
        if error == "unknown option '--clip'", let clip = ForeignVerb.named("clip") {
            return Failure(.usage, error, hint: clip.hint)
        }
        if parts.count == 2 { return Failure(.usage, error, hint: "did you mean \(parts[1])  (\(help))") }
        if let (_, word) = error.wholeMatch(of: /unexpected argument '(.*)'/)?.output {
            if let option = options[verb] {
                return Failure(.usage, error, hint: "did you mean \(option) \(word)?  (\(help))")
            }
            if verb == ["add"], SecretSource(String(word)) != nil {
                return Failure(.usage, error, hint: "a field and its source are one word: --field NAME=\(word)  (\(help))")
            }
        }
        return Failure(.usage, error, hint: help)
    }

    /// The option that takes a word which a user types as an argument.
    private static let options = [["unlock"]: "--vault", ["lock"]: "--vault", ["status"]: "--vault"]

    /// Refuses an unknown letter, and several letters after one dash, since no option here has those. The parser would read
    /// each letter as an option: it answers `add -dash`, which contains an h, with help and exit 0. Then a script believes that
    /// it stored something.
    static func refuseClusters(_ arguments: [String], of verb: [String]) throws(Failure) {
        for word in arguments.prefix(while: { $0 != "--" }) {
            guard word.hasPrefix("-"), !word.hasPrefix("--"), word.count > 1, Int(word) == nil,
                !isKnown(word.dropFirst(), of: verb)
            else { continue }
            throw cluster(word, of: verb)
        }
    }

    /// A letter that is an option, or flags together, with -V and its value last: `-qhV`.
    private static func isKnown(_ letters: Substring, of verb: [String]) -> Bool {
        if verb == ["rest"], ["d", "H"].contains(letters) { return true }
        let last = letters.drop { $0 == "q" || $0 == "h" }
        return ["V", "i", "o"].contains(letters) || last.count < letters.count && (last.isEmpty || last == "V")
    }

    /// - Parameter word: Several letters after one dash. They may be a secret, as in `-pSECRET`, so only the first is repeated.
    static func cluster(_ word: String, of verb: [String]) -> Failure {
        let long = "-\(word.prefix { $0 != "=" })"
        if ["--help", "--version"].contains(long) || GlobalOptions.spellings[long] != nil {
            return Failure(.usage, "unknown option \(long.dropFirst())", hint: "did you mean \(long)?")
        }
        let letter = word.prefix(2)
        guard word.count == 2 || !["-i", "-o", "-V"].contains(letter) else {
            return Failure(.usage, "\(letter) and its value are two words", hint: help(of: verb))
        }
        let shown = word.count == 2 ? word : "\(letter)…"
        return Failure(.usage, "unknown option \(shown)", hint: help(of: verb), behindDashes(verb))
    }

    /// - Parameter option: A global option without a value.
    static func missingValue(of option: String) -> Failure {
        if option == "-V" {
            return Failure(.usage, "-V needs the name or the path of a vault", hint: "the version: omvault --version")
        }
        return Failure(
            .usage, option == "--format" ? "--format needs a format" : "\(option) needs the name or the path of a vault",
            hint: option == "--format" ? "formats: \(FormatName.words())" : "omvault \(option) NAME COMMAND")
    }

    static func help(of verb: [String]) -> String { (["omvault"] + verb + ["--help"]).joined(separator: " ") }

    private static func behindDashes(_ verb: [String]) -> String {
        "write a name that begins with a dash after --: \((["omvault"] + verb).joined(separator: " ")) -- NAME"
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        let start = drop { $0 == " " }
        return start.prefix(start.count - start.reversed().prefix { $0 == " " }.count)
    }
}
