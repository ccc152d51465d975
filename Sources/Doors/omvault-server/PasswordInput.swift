#if Server
// Passwords and answers from the terminal or from standard input. They are never arguments.

internal import Glibc
internal import OMSecrets
internal import OMServer

enum PasswordInput {
    /// A new password: typed twice at a terminal, or one line of standard input.
    static func new(for name: String) throws -> Password {
        let bytes = try typed("New password for \(name): ", named: "passwords")
        guard PasswordCheck.passwordCounts.contains(bytes.count), let password = try? Password(bytes) else {
            let counts = PasswordCheck.passwordCounts
            throw ServerFailure(
                .inputRequired, "a password has \(counts.lowerBound) to \(counts.upperBound) bytes",
                hint: "type one at the terminal, or give a line on standard input")
        }
        return password
    }

    /// The answer to a user's question: typed twice at a terminal, or one line of standard input.
    static func answer() throws -> SecretBytes {
        let bytes = try typed("Answer: ", named: "answers")
        guard bytes.count <= longestLine else {
            throw ServerFailure(.usage, "an answer has at most \(longestLine) bytes", hint: "give a shorter one")
        }
        return bytes
    }

    /// A line of standard input that is no password, such as the URL of a database.
    static func line() throws -> String {
        let bytes = lineOfInput() ?? SecretBytes(count: 0) { _ in }
        let text = bytes.withBytes { bytes in String(validating: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
        guard let text, !text.isEmpty else {
            throw ServerFailure(
                .inputRequired, "standard input has no line of text", hint: "printf '%s\\n' … | omvault-server …")
        }
        return text
    }

    private static let longestLine = PasswordCheck.passwordCounts.upperBound

    private static func typed(_ prompt: String, named plural: String) throws -> SecretBytes {
        guard isatty(0) != 0 else { return lineOfInput() ?? SecretBytes(count: 0) { _ in } }
        let first = try SilentTerminal.ask(prompt, lineOfInput)
        let second = try SilentTerminal.ask("Again: ", lineOfInput)
        guard first.isEqual(to: second) else {
            throw ServerFailure(
                .inputRequired, "the two \(plural) differ; nothing was changed", hint: "type the same one twice")
        }
        return first
    }

    /// The bytes up to the end of the line, in locked memory.
    ///
    /// - Parameter isReadable: Waits for the next byte. False if a signal ends the question: then the line is nil.
    private static func lineOfInput(_ isReadable: () -> Bool = { true }) -> SecretBytes? {
        var line = SecretBuffer(capacity: 256)
        var byte: UInt8 = 0
        while line.count <= longestLine {
            guard isReadable() else { return nil }
            let got = read(0, &byte, 1)
            if got < 0, errno == EINTR { continue }
            guard got == 1, byte != UInt8(ascii: "\n") else { break }
            line.append(byte)
        }
        byte = 0
        return line.finish()
    }
}
#endif
