// A program that runs beside a test.

import CSupport
import Glibc
import Synchronization

/// A program whose lines the test reads, and to which it may write. The program must end when its input ends.
public final class Companion: Sendable {
    private let child: Child
    private let folder: TestFolder
    private let input: Int32
    private let output: Int32
    private let unread = Mutex<[UInt8]>([])

    /// The number of programs whose companion is gone and which have not ended yet.
    private static let ending = Mutex(0)

    /// Makes the tests' process wait for them at its end. Otherwise the folder of the last program would stay.
    private static let awaited: Void = {
        atexit {
            for _ in 0..<10_000 where Companion.ending.withLock({ $0 > 0 }) { usleep(1_000) }
        }
    }()

    /// - Parameter folder: The program's current directory. The file "errors" in it holds the program's standard error.
    public init(_ command: [String], in folder: TestFolder, environment: [String: String] = [:]) throws {
        // If the program has ended, a write to it must not end the tests.
        signal(SIGPIPE, SIG_IGN)
        Self.awaited
        var toChild: [Int32] = [-1, -1], fromChild: [Int32] = [-1, -1]
        guard test_pipe(&toChild) == 0, test_pipe(&fromChild) == 0 else {
            throw NotStarted(program: command[0], reason: "no pipe")
        }
        (self.folder, input, output) = (folder, toChild[1], fromChild[0])
        defer {
            close(toChild[0])
            close(fromChild[1])
        }
        do {
            // The child opens its own copies of the ends.
            child = try Child(
                command, in: folder.path, environment: environment, input: "/proc/self/fd/\(toChild[0])",
                output: "/proc/self/fd/\(fromChild[1])", errors: folder.file("errors"))
        } catch {
            close(input)
            close(output)
            throw error
        }
    }

    /// The next line. Waits for it without a limit. Nil if no more lines come.
    public func line() async -> String? { await onOwnThread { self.readLine() } }

    /// Writes a line to the program.
    public func say(_ line: String) {
        _ = Array((line + "\n").utf8).withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
    }

    private func readLine() -> String? {
        while true {
            let line: String? = unread.withLock { bytes in
                guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
                defer { bytes.removeFirst(end + 1) }
                return String(decoding: bytes[..<end], as: UTF8.self)
            }
            if let line { return line }
            var piece = [UInt8](repeating: 0, count: 4096)
            let count = read(output, &piece, piece.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return nil }
            unread.withLock { $0 += piece.prefix(count) }
        }
    }

    /// Keeps the folder until the program has ended.
    deinit {
        close(input)
        close(output)
        let (child, folder) = (child, folder)
        Self.ending.withLock { $0 += 1 }
        Task.detached {
            var kept: TestFolder? = folder
            _ = await child.end()
            withExtendedLifetime(kept) { kept = nil }
            Self.ending.withLock { $0 -= 1 }
        }
    }
}
