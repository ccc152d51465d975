/// A position in one history and the digest of the state there.
package struct HighWaterMark: Hashable, Sendable {
    package let generation: UInt64
    /// 32 bytes.
    package let digest: [UInt8]

    package init(generation: UInt64, digest: [UInt8]) {
        precondition(digest.count == 32, "a digest has 32 bytes")
        (self.generation, self.digest) = (generation, digest)
    }

    /// The position before the first step of a history.
    package static let beginning = HighWaterMark(generation: 0, digest: [UInt8](repeating: 0, count: 32))

    /// Compares the state that was found with the mark that this device wrote last.
    package func compare(with found: HighWaterMark) -> Comparison {
        if found.generation > generation { return .newer }
        return found == self ? .same : .rolledBack
    }

    package enum Comparison: Sendable {
        case same
        /// Newer than the mark: a crash came between the commit and the mark. It is accepted, and the caller notes it.
        case newer
        /// Older, or another state under the same number.
        case rolledBack
    }
}
