// The clipboard of the terminal: an escape sequence (OSC 52) that also works over SSH. Most terminals do not tell what their
// clipboard holds, so omvault never clears it.

internal import OMSecrets
internal import OMShell

struct TerminalClipboard {
    private enum Multiplexer { case none, tmux, screen }

    private let multiplexer: Multiplexer

    /// The most that xterm takes.
    private static let longest = 74_994
    /// A string of screen has at most 768 bytes.
    private static let piece = 760

    /// Nil without a terminal, and for terminals that are known to have none.
    init?() {
        guard let term = Environment.text("TERM"), !["dumb", "linux"].contains(term), OpenTerminal() != nil else { return nil }
        multiplexer = Environment.text("TMUX") != nil ? .tmux : Environment.text("STY") != nil ? .screen : .none
    }

    /// - Throws: ``ExitStatus/clipboard``, ``ExitStatus/usage`` for a long text.
    func copy(_ secret: borrowing SecretBytes) throws(Failure) {
        guard secret.count <= Self.longest else {
            throw Failure(
                .usage, "the value has \(secret.count) bytes, and a terminal's clipboard gets at most \(Self.longest)", hints: [])
        }
        guard let terminal = OpenTerminal() else {
            throw Failure(.clipboard, "nothing was copied: there is no terminal any more", hints: ClipboardProgram.ways)
        }
        let text = Base64.encode(secret)
        var sequence = SecretBuffer(capacity: 2 * text.count + 128)
        switch multiplexer {
        case .none: Self.append(text, to: &sequence)
        case .tmux:
            // tmux itself takes the first with `set-clipboard on`, and hands the second on with `allow-passthrough on`.
            Self.append(text, to: &sequence)
            sequence.append("\u{1B}Ptmux;\u{1B}".utf8Span.span)
            Self.append(text, to: &sequence)
            sequence.append("\u{1B}\\".utf8Span.span)
        case .screen:
            var whole = SecretBuffer(capacity: text.count + 16)
            Self.append(text, to: &whole)
            whole.withBytes { bytes in
                for start in stride(from: 0, to: bytes.count, by: Self.piece) {
                    sequence.append("\u{1B}P".utf8Span.span)
                    sequence.append(bytes.extracting(start..<min(start + Self.piece, bytes.count)))
                    sequence.append("\u{1B}\\".utf8Span.span)
                }
            }
        }
        guard sequence.withBytes({ writeAll($0, to: terminal.descriptor) }) == nil else {
            throw Failure(.clipboard, "nothing was copied: the terminal is gone", hints: ClipboardProgram.ways)
        }
    }

    private static func append(_ text: borrowing SecretBytes, to sequence: inout SecretBuffer) {
        sequence.append("\u{1B}]52;c;".utf8Span.span)
        sequence.append(text)
        sequence.append("\u{7}".utf8Span.span)
    }
}
