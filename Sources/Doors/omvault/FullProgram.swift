internal import Glibc
internal import OMShell
internal import OMSystem

/// The program with all commands. It is beside this one.
enum FullProgram {
    private static let name = "omvault-full"

    /// Continues this process as that program, with the same arguments.
    static func become() -> Never {
        let path = OwnFile.path.map { "\(FilePath.folder(of: $0))/\(name)" } ?? name
        let failure = failureOfChecks(path) ?? failureOfStart(path)
        failure.report(asJSON: false)
        exit(failure.status.rawValue)
    }

    /// - Returns: only if the program could not be started.
    private static func failureOfStart(_ path: String) -> Failure {
        guard path != name else { return missing(path) }
        // Swift reads the arguments from /proc, and has none where it is not mounted.
        guard CommandLine.argc > 0 else { return Failure(.general, "the arguments cannot be read", hint: "mount /proc") }
        execv(path, CommandLine.unsafeArgv)
        return errno == ENOENT ? missing(path) : Failure(.general, "the program \(path.shown) cannot be started", errno: errno)
    }

    private static func missing(_ path: String) -> Failure {
        Failure(
            .general, "the program \(path.shown) is missing", hint: "install \(name) beside omvault, from the same build")
    }

    /// The program must be as hard to change as this one.
    ///
    /// Attack: `omvault` alone was copied into a folder like /tmp. Another user cannot replace it there, but can make
    /// the program beside it, which would be given the next password.
    private static func failureOfChecks(_ path: String) -> Failure? {
        var (own, link, file) = (stat(), stat(), stat())
        guard OwnFile.status(&own), lstat(path, &link) == 0, stat(path, &file) == 0 else { return nil }
        // It would start itself for ever.
        guard own.st_ino != file.st_ino || own.st_dev != file.st_dev else {
            return Failure(
                .general, "\(path.shown) is omvault itself", hint: "install \(name) from the same build in its place")
        }
        let owners = [0, geteuid(), own.st_uid]
        guard owners.contains(link.st_uid), owners.contains(file.st_uid), file.st_mode & ~own.st_mode & 0o022 == 0 else {
            return Failure(
                .permission, "\(path.shown) is not started: other users than those of omvault can change it",
                hint: "find out who created it before you remove it, and install \(name) from the same build")
        }
        return nil
    }
}

/// The file of this program.
private enum OwnFile {
    /// Nil if the system does not say it.
    static var path: String? { ofProcess ?? ofCall }

    static func status(_ status: inout stat) -> Bool {
        if stat(link, &status) == 0 { return true }
        return ofCall.map { stat($0, &status) == 0 } ?? false
    }

    private static let link = "/proc/self/exe"

    /// The path without links. The kernel marks the path of a file that was replaced after the start.
    private static var ofProcess: String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        guard readlink(link, &buffer, buffer.count - 1) > 0 else { return nil }
        let (path, mark) = (String(cString: buffer), " (deleted)")
        return path.hasSuffix(mark) && access(path, F_OK) != 0 ? String(path.dropLast(mark.count)) : path
    }

    /// Where /proc is not mounted: the path by which this program was called.
    private static var ofCall: String? {
        guard let word = CommandLine.unsafeArgv[0], strchr(word, Int32(UInt8(ascii: "/"))) != nil,
            let found = realpath(word, nil)
        else { return nil }
        defer { free(found) }
        return String(cString: found)
    }
}
