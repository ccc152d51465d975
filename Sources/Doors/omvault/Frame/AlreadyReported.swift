/// Thrown by a verb whose answer already stands on standard output and whose exit code is part of that answer, such as
/// a login that was denied. Nothing more is printed.
struct AlreadyReported: Error {
    let status: ExitStatus
}
