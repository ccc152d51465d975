internal import OMShell

/// Ends a command whose answer is already on standard output. The exit code is a part of that answer, as for a login that
/// was denied. Nothing more is printed.
struct AlreadyReported: Error {
    let status: ExitStatus
}
