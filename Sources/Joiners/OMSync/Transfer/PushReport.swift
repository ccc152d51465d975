/// What a push did.
package struct PushReport: Hashable, Sendable {
    /// Versions that were written.
    package var parcels = 0
    /// The bytes of all files that were written.
    package var bytes = 0
    /// Whether more is to be pushed.
    package var hasMore = false
    /// Items that this device cannot push yet: a value in chunks, or a lowering that needs a closed level.
    package var skipped = 0

    package init() {}
}
