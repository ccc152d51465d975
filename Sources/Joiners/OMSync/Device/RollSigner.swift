internal import OMParcels
internal import OMSecrets

/// A member that signs entries of the roll.
final class RollSigner: Sendable {
    let number: UInt32
    private let key: Key<Signing>

    /// - Parameter key: The member key of that number.
    init(_ number: UInt32, _ key: consuming Key<Signing>) {
        self.number = number
        self.key = key
    }

    func sign(_ contents: RollEntry.Contents, anchor: [UInt8]? = nil) -> RollEntry {
        RollEntry(contents, anchor: anchor, signedWith: key)
    }

    /// Lends the key to the one caller that stores it.
    func withKey<R: ~Copyable, E: Error>(_ body: (borrowing Key<Signing>) throws(E) -> R) throws(E) -> R { try body(key) }
}
