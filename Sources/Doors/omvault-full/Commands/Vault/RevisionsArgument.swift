internal import ArgumentParser

/// `REV` or `OLD..NEW`: the versions that `history --diff` compares.
struct RevisionsArgument: ExpressibleByArgument {
    /// Nil for the version before the new one.
    let old: UInt64?
    let new: UInt64

    init?(argument: String) {
        let parts = argument.split(separator: ".", omittingEmptySubsequences: false)
        guard let new = parts.last.flatMap(Self.revision) else { return nil }
        self.new = new
        switch parts.count {
        case 1: old = nil
        case 3:
            guard parts[1].isEmpty, let first = Self.revision(parts[0]) else { return nil }
            old = first
        default: return nil
        }
    }

    /// Digits, without the sign that `UInt64` takes.
    private static func revision(_ text: Substring) -> UInt64? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt64(text) : nil
    }
}
