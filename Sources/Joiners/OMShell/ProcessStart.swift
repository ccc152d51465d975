internal import COMSystem
internal import Glibc

/// What each program of the command does before it reads anything.
package enum ProcessStart {
    /// Hardens the process, and ends it if the system refuses.
    package static func protect() {
        guard om_harden_process() == 0 else { fatalError("omvault: error: this system refuses to protect the process") }
        holdStandardDescriptors()
        // If the reader of a pipe or socket has gone, the write fails. With the signal's usual effect an agent that ends, or a
        // standard error that is closed, would kill this process in the middle of a change or between charge and settlement.
        signal(SIGPIPE, SIG_IGN)
        // The same for a file that has reached the limit of its size.
        signal(SIGXFSZ, SIG_IGN)
    }

    /// Whether docker started this program, as a credential helper. docker adds the last word, which its configuration names.
    package static var isOfDocker: Bool { isCalled("docker-credential-omvault") }

    /// Whether another program started this one to answer a prompt. It gives no word but the prompt.
    package static var isOfAskpass: Bool { isCalled("omvault-askpass") }

    private static func isCalled(_ name: String) -> Bool {
        guard CommandLine.argc > 0, let typed = CommandLine.unsafeArgv[0] else { return false }
        let own = strrchr(typed, Int32(UInt8(ascii: "/"))).map { $0 + 1 } ?? typed
        return strcmp(own, name) == 0
    }

    /// Attack: an attacker starts omvault with a closed standard output. The next file that it opens, such as a vault,
    /// becomes descriptor 1, and the output is written into it. So a closed descriptor gets /dev/null, opened for the
    /// wrong direction: using it is still an error.
    private static func holdStandardDescriptors() {
        for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) == -1 {
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}
