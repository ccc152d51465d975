#if Server
// Passwords from the terminal or from standard input. They are never arguments.

internal import Glibc
internal import OMSecrets
internal import OMServer

enum PasswordInput {
    /// A new password: typed twice at a terminal, or one line of standard input.
    static func new(for name: String) throws -> Password {
        guard isatty(0) != 0 else { return try checked(try readLine(0)) }
        let first = try ask("New password for \(name): ")
        let second = try ask("Again: ")
        let isEqual = first.withBytes { one in second.withBytes { ConstantTime.areEqual(one, $0) } }
        guard isEqual else {
            throw ServerFailure(
                .inputRequired, "the two passwords differ; nothing was changed", hint: "type the same one twice")
        }
        return try checked(first)
    }

    /// A line of standard input that is no password, such as the URL of a database.
    static func line() throws -> String {
        let bytes = try readLine(0)
        let text = bytes.withBytes { bytes in String(validating: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
        guard let text, !text.isEmpty else {
            throw ServerFailure(
                .inputRequired, "standard input has no line of text", hint: "printf '%s\\n' … | omvault-server …")
        }
        return text
    }

    private static func checked(_ bytes: consuming SecretBytes) throws -> Password {
        guard PasswordCheck.passwordCounts.contains(bytes.count), let password = try? Password(bytes) else {
            let counts = PasswordCheck.passwordCounts
            throw ServerFailure(
                .inputRequired, "a password has \(counts.lowerBound) to \(counts.upperBound) bytes",
                hint: "type one at the terminal, or give a line on standard input")
        }
        return password
    }

    private static func ask(_ prompt: String) throws -> SecretBytes {
        var before = termios()
        guard tcgetattr(0, &before) == 0 else { return try readLine(0) }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO)
        ServerText.error(prompt)
        tcsetattr(0, TCSAFLUSH, &silent)
        defer {
            tcsetattr(0, TCSAFLUSH, &before)
            ServerText.error("\n")
        }
        return try readLine(0)
    }

    /// The bytes up to the end of the line, which stay in locked memory.
    private static func readLine(_ descriptor: Int32) throws -> SecretBytes {
        var line = SecretBuffer(capacity: 256)
        var byte: UInt8 = 0
        while line.count <= PasswordCheck.passwordCounts.upperBound {
            let got = read(descriptor, &byte, 1)
            if got < 0, errno == EINTR { continue }
            guard got == 1, byte != UInt8(ascii: "\n") else { break }
            line.append(byte)
        }
        return line.finish()
    }
}
#endif
