internal import OMShell

/// Why the text of an item cannot be read back. It names a line and never quotes it, since a line can hold a secret.
struct DocumentProblem: Error, Equatable {
    enum Reason: Equatable {
        case noColon, badName, noSpace, reserved, badEnd, noEnd
        case repeated(String)
        case notText
        /// The line of a value that is not text was changed.
        case placeholder
        /// It was removed.
        case noPlaceholder(String)
    }

    /// From 1. 0 for the text as a whole.
    let line: Int
    let reason: Reason
}

extension Failure {
    init(_ problem: DocumentProblem) {
        let place = problem.line == 0 ? "the text" : "line \(problem.line)"
        let words =
            switch problem.reason {
            case .noColon: "has no colon after a field's name"
            case .badName: "does not begin with a name that a field can have"
            case .noSpace: "has no space after the colon"
            case .reserved: "begins with @, which has no meaning yet; write \\@ for a field's name that begins so"
            case .badEnd: "has no word of letters and digits after <<"
            case .repeated(let name): "has the field \(name) a second time"
            // Attack: a password that begins with << is typed as a value, and a message shows it at the terminal or in a log.
            case .noEnd: "begins a value that has no end: no later line is the word after <<"
            case .notText: "is not plain text: it is not UTF-8, or has a control character"
            case .placeholder: "is for a value that is not plain text, and was changed"
            case .noPlaceholder(let name): "has no line for \(name) any more, whose value is not plain text"
            }
        self.init(
            .usage, "\(place) \(words); nothing was changed",
            hint: "the first lines of the text say how a field is written")
    }
}
