internal import OMShell

/// docs/reference/exit-codes.md: every exit code, and where the guide says what to do.
enum ExitCodePage {
    static func text() -> String {
        var markdown = Markdown(writtenBy: ReferencePages.source)
        markdown.heading(1, "Exit codes")
        markdown.paragraph(
            markdown: """
                A number never changes its meaning. `omvault exit-codes` prints this table, also as JSON. With `--json` an error \
                has the number as `exit` and the name as `code`. A command that a signal ended has 128 and the number of the \
                signal: 130 after Ctrl-C.
                """)
        markdown.paragraph(markdown: "A number that is a link leads to what you can do about it.")
        markdown.table(
            ["code", "name", "meaning"],
            ExitStatus.allCases.map { status in
                let number = "\(status.rawValue)"
                return [
                    status.question == nil ? number : "[\(number)]", Markdown.code(status.name), Markdown.marked(status.meaning),
                ]
            })
        markdown.links(
            ExitStatus.allCases.compactMap { status in
                status.question.map { ("\(status.rawValue)", "../guide/questions.md#\($0)") }
            })
        return markdown.text
    }
}

extension ExitStatus {
    /// The heading in docs/guide/questions.md that answers this code, as the end of its address.
    var question: String? {
        switch self {
        case .usage: "2-bad-command-flag-or-argument"
        case .aborted: "3-you-said-no"
        case .unsupported: "4-not-offered-here"
        case .exists: "5-it-exists-already"
        case .noVault: "6-no-such-vault"
        case .locked: "7-locked"
        case .inputRequired: "8-a-question-would-be-needed"
        case .config: "9-bad-configuration"
        case .notFound, .ambiguous: "10-and-11-not-found-or-found-twice"
        case .conflict: "12-changed-meanwhile"
        case .policy: "13-forbidden-by-a-rule"
        case .permission: "14-unsafe-file"
        case .busy: "16-busy"
        case .badSecret: "20-wrong-password"
        case .delayed: "21-too-early"
        case .lockedOut, .wiped: "22-and-23-locked-out-and-wiped"
        case .noOffline: "24-no-cached-credential"
        case .corrupt: "30-damaged"
        case .rollback: "31-an-older-copy"
        case .badSignature: "32-wrong-signature"
        case .unsafeAlgorithm: "33-unsafe-algorithm"
        case .vectors: "40-a-vector-failed"
        case .auditFindings: "41-audit-found-something"
        case .doctorFindings: "42-verify-or-doctor-found-something"
        case .network, .remoteAuth, .remoteError: "50-51-and-52-the-server"
        case .io: "60-reading-or-writing-failed"
        case .agent: "61-the-agent"
        case .clipboard: "62-the-clipboard"
        case .editor: "63-the-editor"
        case .ok, .general, .unchanged: nil
        }
    }
}
