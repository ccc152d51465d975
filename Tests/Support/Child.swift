// A program that a test starts and waits for.

import CSupport
import Foundation
import Glibc
import Synchronization

/// The result of a program.
public struct Ran: Sendable {
    /// The exit code; 128 + n after signal n; 124 if the program did not end in time.
    public let status: Int32
    public let output: String
    public let errors: String
}

public struct NotStarted: Error {
    let program: String
    let reason: String
}

/// A process in a session of its own. Every signal has its default, and only the descriptors 0, 1 and 2 are open.
public struct Child: Sendable {
    /// Far longer than any test takes on a loaded machine. It ends a process that hangs, and is not a measurement.
    private static let longest = 900.0

    private let process: pid_t

    /// - Parameters:
    ///   - command: The program's absolute path and its arguments.
    ///   - folder: The program's current directory.
    ///   - environment: The whole environment.
    ///   - input, output, errors: The files to open. If all three are one terminal, it controls the process.
    public init(
        _ command: [String], in folder: String, environment: [String: String], input: String = "/dev/null",
        output: String, errors: String
    ) throws {
        var words = command.map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for word in words + variables { free(word) } }
        process = test_spawn(&words, &variables, folder, input, output, errors)
        guard process > 0 else { throw NotStarted(program: command[0], reason: String(cString: strerror(errno))) }
    }

    /// Waits without blocking a thread of Swift's pool. Call it once.
    public func end() async -> Int32 { await onOwnThread { wait() } }

    fileprivate func wait() -> Int32 {
        let process = process
        let isLate = Mutex(false)
        let killer = DispatchWorkItem {
            isLate.withLock { $0 = true }
            kill(-process, SIGKILL)
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.longest, execute: killer)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        killer.cancel()
        if isLate.withLock({ $0 }) { return 124 }
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + status & 0x7F
    }
}

/// Runs a program to its end. The number of programs that run at once is limited over all tests.
public func run(_ command: [String], in folder: TestFolder, environment: [String: String] = [:]) async throws -> Ran {
    try await gated { try await onOwnThread { try runHere(command, in: folder, environment: environment) } }
}

/// The same for synchronous functions: this thread waits. Only in a test or suite with ``OwnThreads``.
public func runHere(_ command: [String], in folder: TestFolder, environment: [String: String] = [:]) throws -> Ran {
    // In another folder than the program's, so the output files do not change that folder.
    let said = try TestFolder()
    let output = said.path + "/output", errors = said.path + "/errors"
    let status = try Child(command, in: folder.path, environment: environment, output: output, errors: errors).wait()
    return Ran(status: status, output: try text(output), errors: try text(errors))
}

/// Runs a program at a terminal of its own. Types each answer after its prompt, which must come after the answer before.
///
/// - Returns: `output` holds everything that the terminal showed. A missing prompt gives status 1 and a message in `errors`.
public func runAtTerminal(
    _ command: [String], _ dialogue: [(prompt: String, answer: String?)], in folder: TestFolder,
    environment: [String: String] = [:]
) async throws -> Ran {
    try await gated {
        let terminal = try PseudoTerminal()
        let child = try Child(
            command, in: folder.path, environment: environment, input: terminal.path, output: terminal.path,
            errors: terminal.path)
        // From the start, because it also ends a program that waits at the terminal for ever.
        async let ended = child.end()
        let unasked = await onOwnThread { terminal.play(dialogue) }
        let status = await ended
        guard let unasked else { return Ran(status: status, output: terminal.shown, errors: "") }
        return Ran(status: 1, output: terminal.shown, errors: "never asked: \(unasked)")
    }
}

private func gated(_ body: () async throws -> Ran) async throws -> Ran {
    await Gate.children.enter()
    let result: Result<Ran, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    await Gate.children.leave()
    return try result.get()
}

private func text(_ file: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self)
}
