internal import COMSystem
internal import Glibc
internal import OMShell
internal import Synchronization

/// A pipe between this process and a program. Both ends close with it.
final class ProgramPipe: Sendable {
    let reading: Int32
    let writing: Int32
    private let isReadingClosed = Atomic(false)
    private let isWritingClosed = Atomic(false)

    init() throws(Failure) {
        var ends: [Int32] = [-1, -1]
        guard om_pipe(&ends) == 0 else { throw Self.failure(errno) }
        (reading, writing) = (ends[0], ends[1])
    }

    deinit {
        closeReading()
        closeWriting()
    }

    func closeReading() {
        if !isReadingClosed.exchange(true, ordering: .relaxed) { close(reading) }
    }

    func closeWriting() {
        if !isWritingClosed.exchange(true, ordering: .relaxed) { close(writing) }
    }

    static func failure(_ code: Int32) -> Failure { Failure(.io, "a pipe cannot be made for the program's output", errno: code) }
}
