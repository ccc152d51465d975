// The program of `omvault run`, from its start to its end.

internal import COMSystem
internal import Glibc
internal import OMSecrets
internal import OMShell
internal import OMSystem

/// A program that runs in the place of this process: it has the same terminal, and gets the same signals.
struct RunningProgram: ~Copyable {
    private let child: pid_t
    private let signals: Int32
    private let timer = Timer()

    /// Holds the signals that the program is to get, until it runs.
    struct Held: ~Copyable {
        fileprivate let signals: Int32
        fileprivate let mask: [UInt8]

        init() throws(Failure) {
            var mask = [UInt8](repeating: 0, count: om_signal_mask_size())
            signals = om_child_signals(&mask, mask.count)
            guard signals >= 0 else { throw Failure(.general, "the signals cannot be held", errno: errno) }
            self.mask = mask
        }

        deinit { close(signals) }
    }

    /// - Parameters:
    ///   - variables: `NAME=VALUE`, each with a zero behind it. They replace those of this process.
    ///   - isClean: Whether the program gets these variables only.
    ///   - files: The descriptors that the program gets, and their numbers there.
    /// - Throws: ``NotStarted``.
    init(
        _ command: [String], variables: borrowing SecretBytes, isClean: Bool, files: [(from: Int32, to: Int32)],
        _ held: borrowing Held
    ) throws(NotStarted) {
        let child = variables.withBytes { bytes in
            bytes.withUnsafeBytes { bytes in
                Self.withEnvironment(bytes, isClean: isClean) { environment in
                    command.withCArguments { arguments in
                        let (from, to) = (files.map(\.from), files.map(\.to))
                        return held.mask.withUnsafeBytes {
                            om_child_start(arguments, environment, from, to, files.count, $0.baseAddress)
                        }
                    }
                }
            }
        }
        guard child > 0 else { throw NotStarted(code: errno) }
        self.child = child
        signals = dup(held.signals)
    }

    deinit { close(signals) }

    /// Makes this process the program.
    ///
    /// - Parameter files: As for a program that is started.
    /// - Returns: only if it cannot be started.
    static func become(
        _ command: [String], variables: borrowing SecretBytes, isClean: Bool, files: [(from: Int32, to: Int32)]
    ) -> NotStarted {
        let code = variables.withBytes { bytes in
            bytes.withUnsafeBytes { bytes in
                withEnvironment(bytes, isClean: isClean) { environment in
                    command.withCArguments { om_become($0, environment, files.map(\.from), files.map(\.to), files.count) }
                }
            }
        }
        return NotStarted(code: code)
    }

    /// It stays open as long as a thread may set it.
    private final class Timer: Sendable {
        let descriptor = om_boot_timer()

        deinit { close(descriptor) }

        /// - Parameter time: In seconds since boot. Nil for never.
        func set(_ time: Int64?) { om_boot_timer_set(descriptor, time ?? 0) }
    }

    /// The environment of this process without the variables that `bytes` names, and these. If it is clean, these only.
    private static func withEnvironment<R>(
        _ bytes: UnsafeRawBufferPointer, isClean: Bool, _ body: ([UnsafeMutablePointer<CChar>?]) -> R
    ) -> R {
        var given: [UnsafeMutablePointer<CChar>] = []
        var start = 0
        for index in bytes.indices where bytes[index] == 0 {
            if let base = bytes.baseAddress {
                given.append(UnsafeMutableRawPointer(mutating: base + start).assumingMemoryBound(to: CChar.self))
            }
            start = index + 1
        }
        var all: [UnsafeMutablePointer<CChar>?] = []
        var next = environ
        while !isClean, let entry = next.pointee {
            let isReplaced = given.contains { own in
                guard let sign = strchr(own, Int32(UInt8(ascii: "="))) else { return false }
                return strncmp(own, entry, sign - own + 1) == 0
            }
            if !isReplaced { all.append(entry) }
            next += 1
        }
        return body(all + given + [nil])
    }

    /// Waits for the end of the program and of its output, and passes signals on to it.
    ///
    /// - Parameters:
    ///   - output: Its output, if that goes through this process.
    ///   - due: When to call `body` first, in seconds since boot. Nil for never.
    ///   - body: Gives the next time. It runs on a thread of its own, because it may wait long for others, and never twice at
    ///     once. When the program ends, its end is not waited for.
    /// - Returns: The program's exit code, or 128 and the number of the signal that ended it.
    func end(
        _ output: MaskedOutput?, due: Int64?, _ body: @escaping @Sendable () -> Int64?
    ) -> Int32 {
        var code: Int32 = 0
        var asked: Int32 = 0
        let timer = timer
        timer.set(due)
        while true {
            var waiting = [
                pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
                pollfd(fd: timer.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&waiting, 2, -1) >= 0 || errno == EINTR else { break }
            if waiting[0].revents != 0, om_child_pass_on(signals, child, &asked) == 1,
                om_child_ended(child, &code) == 1
            {
                output?.waitForEnd(orSignal: signals, isEnding: asked == 1)
                return code
            }
            if waiting[1].revents != 0 {
                var expirations: UInt64 = 0
                _ = read(timer.descriptor, &expirations, 8)
                // The timer is set again only at the end of the thread.
                DetachedThread.startOrRunHere { timer.set(body()) }
            }
        }
        return om_wait(child)
    }

    /// A program that was not started.
    struct NotStarted: Error {
        let code: Int32

        /// The exit code of a shell for it.
        var exitCode: Int32 { code == ENOENT || code == ENOTDIR ? 127 : 126 }
    }
}
