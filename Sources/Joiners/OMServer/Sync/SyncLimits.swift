#if Server
// How much a remote may have. docs/formats/sync.md, "Over HTTP".

/// Tests have smaller ones.
package struct SyncLimits: Sendable {
    /// Remotes of an account.
    package var remotes: Int64 = 16
    /// Parcels, bytes and packs of a signer: of those that its newest head lists, and that no head lists yet.
    package var parcels: Int64 = 50_000
    package var bytes: Int64 = 256 << 20
    package var packs: Int64 = 2_048
    /// Packs of a remote, so that its list has at most 100,000 files.
    package var packsOfRemote: Int64 = 60_000
    /// Devices with heads on a remote.
    package var signers: Int64 = 4_096
    /// Heads of a signer a minute, and lists of heads.
    package var headsPerMinute: Int64 = 60
    /// Entries of one number from one signer.
    package var entriesOfNumber: Int64 = 4
    /// Entries of a remote on all branches, and their bytes.
    package var entries: Int64 = 16_384
    package var entryBytes: Int64 = 32 << 20
    /// Of these, what only removals and the recovery code may use.
    package var reservedEntries: Int64 = 1_024
    package var reservedBytes: Int64 = 4 << 20
    package var messages: Int64 = 64

    /// How long the server keeps a superseded pack, in seconds.
    package static let supersededTime: Int64 = 30 * 86_400
    /// How long it keeps a pack that no head lists.
    package static let unlistedTime: Int64 = 86_400
    package static let messageTime: Int64 = 86_400

    package init() {}
}
#endif
