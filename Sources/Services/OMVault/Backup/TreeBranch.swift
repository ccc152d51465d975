internal import OMSecrets

/// A branch of a level's tree, as its row stores it.
struct TreeBranch: Hashable {
    static let digestsCount = 16 * KeyedHash.count
    static let maximumPrefix = 31

    /// One nibble per byte.
    let prefix: [UInt8]
    let digests: [UInt8]
}
