internal import COMSystem

/// Why the system lets this process make no sandbox for an editor.
package struct SandboxProblem: Error {
    package enum Step: Sendable {
        /// A process in namespaces of its own.
        case process
        /// The user's own number inside.
        case user
        /// A file system in memory.
        case mount
        /// All other file systems as read-only ones.
        case readOnly
        /// The process's own rights, given up.
        case rights
    }

    package let step: Step
    /// The `errno` of the call that failed.
    package let code: Int32

    init(_ step: om_sandbox_step, _ code: Int32) {
        self.code = code
        self.step =
            switch step {
            case OM_SANDBOX_USER: .user
            case OM_SANDBOX_MOUNT: .mount
            case OM_SANDBOX_READ_ONLY: .readOnly
            case OM_SANDBOX_RIGHTS: .rights
            default: .process
            }
    }
}
