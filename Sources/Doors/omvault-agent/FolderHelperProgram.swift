// The door of the folder's helper: `omvault-agent --folder`. OMAgent does the rest.

internal import Glibc
internal import OMAgent

enum FolderHelperProgram {
    static func run() -> Never {
        // It holds no secret, so it hides no memory.
        guard AgentProcess.harden(hidesMemory: false) else {
            fatalError("omvault-agent: error: this system refuses to protect the process")
        }
        signal(SIGPIPE, SIG_IGN)
        // A file that is larger than any file of a remote is an error of the request.
        signal(SIGXFSZ, SIG_IGN)
        FolderHelper.run()
    }
}
