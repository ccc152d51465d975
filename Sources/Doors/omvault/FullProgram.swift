internal import Glibc
internal import OMShell
internal import OMSystem

/// The program with all commands. It is beside this one.
enum FullProgram {
    private static let name = "omvault-full"

    /// Continues this process as that program, with the same arguments.
    static func become() -> Never {
        let own = ownPath()
        let path = own.map { "\(FilePath.folder(of: $0))/\(name)" } ?? name
        if own != nil { execv(path, CommandLine.unsafeArgv) }
        let failure = Failure(
            .general, "the program \(path.shown) cannot be started", hint: "install \(name) beside omvault, from the same build")
        failure.report(asJSON: false)
        exit(failure.status.rawValue)
    }

    /// The path of this program's file. Where /proc is not mounted, the path by which it was called.
    private static func ownPath() -> String? {
        for path in ["/proc/self/exe", CommandLine.unsafeArgv[0].map { String(cString: $0) } ?? ""] where path.contains("/") {
            guard let found = realpath(path, nil) else { continue }
            defer { free(found) }
            return String(cString: found)
        }
        return nil
    }
}
