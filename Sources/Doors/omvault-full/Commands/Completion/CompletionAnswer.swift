// The answer to a shell that completes a word: `omvault ---complete zsh WORD… CURRENT`.

internal import ArgumentParser
internal import Glibc
internal import OMSecrets
internal import OMShell

struct CompletionAnswer {
    /// The first word of the question. Three dashes, so that it can be no word of a user.
    static let question = "---complete"

    private static let longestLine = 1 << 20

    private let shell: CompletingShell
    private let current: String
    private let found: CompletionSearch.Found
    /// Bash only: how to write a word where the cursor is.
    private let place: BashLine.Place?

    /// Answers without an error: a message would appear in the middle of the user's line.
    static func answer(to question: [String]) {
        guard let shell = question.first.flatMap(CompletingShell.init(rawValue:)) else { return }
        // An agent that is stopped or busy must not stop the user's shell.
        signal(SIGALRM) { _ in _exit(0) }
        alarm(2)
        // The parser's own scripts set it to get quoted names.
        unsetenv("SAP_SHELL")
        guard let answer = CompletionAnswer(shell, Array(question.dropFirst())) else { return }
        try? StandardOutput.write(answer.text)
    }

    private init?(_ shell: CompletingShell, _ rest: [String]) {
        self.shell = shell
        var words: [String]
        if shell == .bash {
            guard rest.count == 1 else { return nil }
            // Wiped at the end: the line may have a secret behind `<<<`.
            var typed = SecretBuffer(capacity: 4096)
            guard readAll(STDIN_FILENO, into: &typed, maximum: Self.longestLine) == .end else { return nil }
            let line = typed.withBytes { BashLine($0, breaks: rest[0]) }
            (words, place) = (line.words, line.place)
            if line.isFile {
                (current, found) = ("", .files)
                return
            }
        } else {
            (words, place) = (rest, nil)
        }
        guard let last = words.popLast() else { return nil }
        current = last
        found = CompletionSearch(words, current: last).found()
    }

    private var text: String {
        switch found {
        case .files: "files\n"
        case .folders: "folders\n"
        case .words(let words):
            "words\n" + words.filter { !$0.text.unicodeScalars.contains(where: \.isUnsafeToShow) }.compactMap(line).joined()
        }
    }

    private func line(_ word: CompletionWord) -> String? {
        let prefix = CompletionSearch.optionPrefix(of: current)
        let typed = String(current.dropFirst(prefix.count))
        let about = word.about.map { "\t\($0)" } ?? ""
        switch shell {
        case .bash:
            guard let place else { return nil }
            // What is before the place stays in the line.
            let fits = place.kept == 0 ? word.fits(typed) : word.text.hasPrefix(typed)
            return fits ? place.written(prefix + word.text) + "\n" : nil
        // Zsh compares the words itself, by its user's rules, and takes the option's name from the line.
        case .zsh: return word.fits(typed) && !word.text.hasPrefix(typed) ? "!\(word.text)\(about)\n" : "+\(word.text)\(about)\n"
        case .fish: return prefix + word.text + about + "\n"
        }
    }
}
