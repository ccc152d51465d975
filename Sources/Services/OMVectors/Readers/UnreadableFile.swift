/// Why a file cannot be read. No case of it is run, because half a file proves nothing.
struct UnreadableFile: Error, Hashable, Sendable {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}
