// The program that asks for a token, for the log of logins. The kernel names it, never the caller.

internal import COMSystem
internal import Glibc
package import OMAgentProtocol
internal import OMSystem

/// A program at the other end of a connection.
///
/// omvault hides its memory, and with it the path of its own file. So for omvault, and for any other program that hides, the
/// program that started it counts.
package struct AskingProgram: Hashable, Sendable {
    /// The user at the other end, also if another process counts as the program. The highest number if the kernel names none.
    package let user: UInt32
    package let process: UInt32
    /// The path of its file, without links. Empty if every process on the way up hides it.
    package let file: String

    /// How many processes up the search goes.
    private static let longestWay = 8

    package init(_ channel: borrowing FrameChannel) {
        var (user, first) = (uid_t(0), pid_t(0))
        guard om_socket_peer(channel.descriptor, &user, &first) == 0 else {
            (self.user, process, file) = (.max, 0, "")
            return
        }
        self.user = user
        let found = Self.search(from: first, om_socket_peer_descriptor(channel.descriptor))
        (process, file) = found ?? (UInt32(bitPattern: first), "")
    }

    /// - Parameter descriptor: Of the process `first`. It is closed here.
    private static func search(from first: pid_t, _ descriptor: Int32) -> (UInt32, String)? {
        var (process, descriptor) = (first, descriptor)
        defer { close(descriptor) }
        for _ in 0..<longestWay {
            let (file, parent) = (file(of: process), parent(of: process))
            // Attack: the process ends, and another program gets its number. The descriptor means the first one for ever, so what
            // was read before is true if that one still runs.
            guard descriptor >= 0, om_process_runs(descriptor) else { return nil }
            if let file, !isOurs(file) { return (UInt32(bitPattern: process), file) }
            guard let parent, parent > 1 else { return nil }
            let next = om_other_process_descriptor(parent)
            // The parent was not replaced by another process of its number, if it is still the parent.
            guard next >= 0, Self.parent(of: process) == parent, om_process_runs(descriptor) else {
                close(next)
                return nil
            }
            close(descriptor)
            (process, descriptor) = (parent, next)
        }
        return nil
    }

    private static func isOurs(_ file: String) -> Bool {
        let folder = FilePath.folder(of: AgentProcess.ownProgram)
        return file == "\(folder)/omvault" || file == "\(folder)/omvault-full"
    }

    /// Nil if the process hides it.
    private static func file(of process: pid_t) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = readlink("/proc/\(process)/exe", &buffer, buffer.count - 1)
        guard count > 0 else { return nil }
        return String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static func parent(of process: pid_t) -> pid_t? {
        let descriptor = open("/proc/\(process)/stat", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 512)
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return nil }
        let text = String(decoding: buffer[..<count], as: UTF8.self)
        // Attack: a program has a name with blanks and brackets in it. The last bracket ends the name.
        guard let end = text.lastIndex(of: ")") else { return nil }
        let words = text[text.index(after: end)...].split(separator: " ")
        return words.count > 1 ? pid_t(words[1]) : nil
    }
}
