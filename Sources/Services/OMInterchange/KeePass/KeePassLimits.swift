package import OMCrypto

/// How much a file of KeePass may ask for. The file is foreign: it names its own cost.
package struct KeePassLimits: Sendable {
    /// Entries. Their older versions do not count: nothing of them is kept.
    package var entries = 100_000
    /// Fields, attachments, tags, plug-ins' data and unknown elements of all entries together, and the losses of groups.
    package var fields = 1_000_000
    package var groupLevels = 100
    /// Bytes of the XML, unpacked.
    package var unpackedBytes = 1 << 29
    /// Bytes of all attachments together. An attachment of many entries counts for each of them.
    package var attachmentBytes = 1 << 29
    /// Rounds of AES-KDF. The most take about 20 seconds.
    package var rounds: UInt64 = 1 << 29
    /// KeePassXC sets Argon2 by the time that it may take, up to 5 seconds on a fast machine.
    package var work = WorkLimit(factor: 16)
    /// Memory of Argon2, whatever ``work`` allows.
    package var memoryKiB = 1 << 20

    package init() {}

    package static let standard = KeePassLimits()
}
