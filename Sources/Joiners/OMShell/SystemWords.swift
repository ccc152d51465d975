// Messages for errors of the operating system, by its error numbers.

internal import Glibc

extension Failure {
    /// - Parameters:
    ///   - message: What could not be done.
    ///   - code: An `errno`. Its words are behind the message.
    package init(_ status: ExitStatus, _ message: String, errno code: Int32) {
        self.init(status, "\(message): \(systemMessage(code))", hint: Self.nextStep(code))
    }

    private static func nextStep(_ code: Int32) -> String {
        switch code {
        case ENOENT, ENOTDIR, ENAMETOOLONG, ELOOP: "check the path: ls -ld shows what is there"
        case EACCES, EPERM: "check who may use it: ls -ld shows owner and permissions"
        case EISDIR: "name a file, not a folder"
        case ENOSPC, EDQUOT: "make room on the disk (df -h), then run the command again"
        case EFBIG: "ulimit -f shows the limit for the size of a file"
        case EROFS: "the file system is read-only; choose another folder"
        case EPIPE: "the program that reads the output has ended"
        case EMFILE, ENFILE: "ulimit -n shows the limit for open files"
        case ENOMEM: "close other programs, then run the command again"
        case EIO: "check the disk; the system's log (dmesg) says more"
        default: "run the command again"
        }
    }
}
