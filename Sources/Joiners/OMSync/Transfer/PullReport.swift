package import OMParcels

/// What a pull brought.
package struct PullReport: Hashable, Sendable {
    /// Devices whose head was not accepted, and why.
    package var notAccepted: [UInt32: KnownHeads.Decision] = [:]
    /// Whether the remote is stopped: 31, or until the user chooses between entries of the roll.
    package var isStopped = false
    /// Entries of the roll that this device signed, and that lost against those of another device: their numbers. They are
    /// signed again.
    package var lostEntries: [UInt32] = []
    /// Whether one of them brought a recovery code, which only its paper can sign again.
    package var losesCode = false
    /// For each remote, the members that list edits of this device there which it never made.
    package var forgers: [UInt8: Set<UInt32>] = [:]
    /// Whether this device was removed.
    package var isRemoved = false
    /// Whether an entry of the roll was written by a later omvault.
    package var needsLaterVersion = false
    /// Items that were written.
    package var written = 0
    /// Items whose changes wait for the user: the brake.
    package var braked = 0
    /// Versions that wait: for news of another device, a closed level, a chunk, or the user.
    package var waiting = 0
    /// Versions that may not replace the item here.
    package var held = 0
    /// Parcels that no key here opens, or with a forged part.
    package var unreadable = 0
    /// Parcels that are not what the format allows.
    package var malformed = 0
    /// For each member, its packs that are not read yet, because too much of it waits.
    package var unreadPacks: [UInt32: Int] = [:]

    package init() {}
}
