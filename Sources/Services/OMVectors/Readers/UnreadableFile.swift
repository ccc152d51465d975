/// Why a file was given up: no case of it is run, for half a file proves nothing.
struct UnreadableFile: Error, Hashable, Sendable {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}
