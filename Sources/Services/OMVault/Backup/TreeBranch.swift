internal import OMSecrets

/// A full node of a level's tree, as its row is.
struct TreeBranch: Hashable {
    static let digestsCount = 16 * KeyedHash.count
    static let maximumPrefix = 31

    /// One nibble a byte.
    let prefix: [UInt8]
    let digests: [UInt8]
}
