// The error of a command, as the user sees it: what happened, what to do next, and the exit code.

internal import Glibc
package import OMItems

/// An error with a message for the user.
///
///     throw Failure(.notFound, "no item \"\(name)\" in vault \"\(vault)\"", hint: "omvault ls")
///
/// The message contains no secret. It can contain text from outside as it is: printing escapes it.
package struct Failure: Error {
    package let status: ExitStatus
    package private(set) var message: String
    /// What to do next. Mostly none, one or two.
    package private(set) var hints: [String]
    /// Further members of the JSON error, such as `attempts_left`.
    package let details: KeyValuePairs<String, JSONValue>
    /// What a person would have been told before the error, if the error is JSON.
    package private(set) var notices: [String] = []
    /// The SDK's number for this error, if it has one.
    package private(set) var sdkCode: Int?
    /// Whether the reader of standard output has gone. Then the process ends by SIGPIPE, without a message.
    package private(set) var isReaderGone = false
    /// The vault's error behind this one, for a command that can say more about some of them. Nil if there is none.
    package private(set) var vaultError: VaultError?
    /// The SDK's name for the list of its numbers.
    package static let sdkDomain = "ORAIDMMOBILE"

    /// - Parameter hint: The next step. An error without one does not compile.
    package init(
        _ status: ExitStatus, _ message: String, hint: String, _ more: String...,
        details: KeyValuePairs<String, JSONValue> = [:]
    ) {
        self.init(status, message, hints: [hint] + more, details: details)
    }

    /// A command line that cannot be used. The program adds the command's help as the next step.
    package init(usage message: String) { self.init(.usage, message, hints: []) }

    /// The user ended the command, and knows it.
    package init(aborted message: String) { self.init(.aborted, message, hints: []) }

    package init(
        _ status: ExitStatus, _ message: String, hints: [String], details: KeyValuePairs<String, JSONValue> = [:]
    ) {
        (self.status, self.message, self.hints, self.details) = (status, message, hints, details)
    }

    /// The reader of standard output has gone, as after `omvault ls | head -n 1`. It is an error like any other until
    /// the program ends: work that was begun is finished or undone, and drafts are removed.
    package static let readerGone: Failure = {
        var failure = Failure(.io, "cannot write to standard output", errno: EPIPE)
        failure.isReaderGone = true
        return failure
    }()

    /// The same with the file's name in front, for a command that reads more than one file.
    package func about(_ file: String) -> Failure {
        var failure = self
        failure.message = "\"\(file)\": \(message)"
        return failure
    }

    /// The same with the number of a line in front.
    package func inLine(_ line: Int) -> Failure {
        var failure = self
        failure.message = "line \(line): \(message)"
        return failure
    }

    /// The same with the SDK's number. Nil keeps the present number.
    package func with(sdkCode: Int?) -> Failure {
        var failure = self
        failure.sdkCode = sdkCode ?? self.sdkCode
        return failure
    }

    /// The same with the vault's error behind it.
    package func with(vaultError: VaultError) -> Failure {
        var failure = self
        failure.vaultError = vaultError
        return failure
    }

    /// The same with other hints.
    package func with(hints: [String]) -> Failure {
        var failure = self
        failure.hints = hints
        return failure
    }

    /// The same with notices that were held back. An error for a person does not repeat them.
    package func with(notices: [String]) -> Failure {
        var failure = self
        failure.notices += notices
        return failure
    }

    /// Runs `body`. If it needs an input and there is none, the error gets this SDK number.
    package static func requiring<R: ~Copyable>(_ sdkCode: Int, _ body: () throws(Failure) -> R) throws(Failure) -> R {
        do throws(Failure) { return try body() } catch {
            throw error.status == .inputRequired ? error.with(sdkCode: sdkCode) : error
        }
    }

    /// Writes the error to standard error. No option silences it.
    ///
    /// - Parameter exitCode: The exit code, if it is not that of the status.
    package func report(asJSON: Bool, exitCode: Int32? = nil) {
        if asJSON {
            StandardError.write(document(exitCode ?? status.rawValue).finish())
        } else {
            let number = sdkCode.map { ["sdk: \(Self.sdkDomain)-\($0)"] } ?? []
            let lines = ["error: \(message)"] + hints.map { "hint: \($0)" } + number
            StandardError.write(lines.map { "omvault: \($0.shown)\n" }.joined())
        }
    }

    private func document(_ exitCode: Int32) -> JSONDocument {
        var document = JSONDocument(schema: nil)
        document.object("error") { error in
            error.field("code", .text(status.name))
            error.field("exit", .number(Int(exitCode)))
            error.field("message", .text(message))
            if !hints.isEmpty { error.field("hint", .text(hints.joined(separator: "\n"))) }
            for (name, value) in details { error.field(name, value) }
            if let sdkCode {
                error.field("sdk_code", .number(sdkCode))
                error.field("sdk_domain", .text(Self.sdkDomain))
            }
            if !notices.isEmpty { error.field("notices", .list(notices.map { .text($0) })) }
        }
        return document
    }
}
