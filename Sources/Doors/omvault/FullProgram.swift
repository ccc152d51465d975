internal import Glibc
internal import OMShell
internal import OMSystem

/// The program with all commands. It is beside this one.
enum FullProgram {
    private static let name = "omvault-full"

    /// Continues this process as that program, with the same arguments.
    static func become() -> Never {
        let failure = start()
        failure.report(asJSON: false)
        exit(failure.status.rawValue)
    }

    /// That of this program's file. Nil if the system does not say it.
    static var folder: String? { ownPath().map { FilePath.folder(of: $0) } }

    /// - Returns: only if the program was not started.
    private static func start() -> Failure {
        // Without it Swift has no arguments either.
        guard CommandLine.argc > 0, let own = ownPath() else {
            return Failure(.general, "omvault cannot find its own program file", hint: "mount /proc")
        }
        let path = "\(FilePath.folder(of: own))/\(name)"
        if let failure = failureOfChecks(path) { return failure }
        execv(path, CommandLine.unsafeArgv)
        return failureOfSystem(path, errno)
    }

    private static let ownLink = "/proc/self/exe"

    /// The path of this program's file, without links. Of a file that was replaced since the start it is the old path, with a
    /// mark behind it.
    private static func ownPath() -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        return readlink(ownLink, &buffer, buffer.count - 1) > 0 ? String(cString: buffer) : nil
    }

    private static func failureOfSystem(_ path: String, _ code: Int32) -> Failure {
        guard code == ENOENT else { return Failure(.general, "the program \(path.shown) cannot be started", errno: code) }
        return Failure(
            .general, "the program \(path.shown) is missing", hint: "install \(name) beside omvault, from the same build")
    }

    /// The program must be as hard to change as this one.
    ///
    /// Attack: `omvault` alone was copied into a folder like /tmp. Another user cannot replace it there, but can make
    /// the program beside it, which would be given the next password. A program that passes is not replaced afterwards:
    /// no other user can rename or delete it in such a folder.
    private static func failureOfChecks(_ path: String) -> Failure? {
        var (own, link, file) = (stat(), stat(), stat())
        guard stat(ownLink, &own) == 0, lstat(path, &link) == 0, stat(path, &file) == 0 else {
            return failureOfSystem(path, errno)
        }
        // It would start itself for ever.
        guard own.st_ino != file.st_ino || own.st_dev != file.st_dev else {
            return Failure(
                .general, "\(path.shown) is omvault itself", hint: "install \(name) from the same build in its place")
        }
        let owners = [0, geteuid(), own.st_uid]
        // Bits that let the same users change omvault too.
        let shared = own.st_mode & (own.st_gid == file.st_gid ? 0o022 : 0o002)
        guard owners.contains(link.st_uid), owners.contains(file.st_uid), file.st_mode & 0o022 & ~shared == 0 else {
            return Failure(
                .permission, "\(path.shown) is not started: other users than those of omvault can change it",
                hint: "find out who created it before you remove it, and install \(name) from the same build")
        }
        return nil
    }
}
