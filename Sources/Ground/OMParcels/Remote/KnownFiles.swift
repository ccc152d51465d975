// The files of a remote whose bytes this device has already.

internal import OMSecrets

/// Bytes by their digests. A server lists the digest of each file that can change, so these are not read again.
package struct KnownFiles: Sendable {
    /// Entry 0 of the roll, once this device knows that the remote has it.
    package var founding: [UInt8]?
    private var bytes: [[UInt8]: [UInt8]] = [:]

    package init() {}

    package subscript(digest: [UInt8]) -> [UInt8]? { bytes[digest] }

    package var isEmpty: Bool { bytes.isEmpty }

    /// Adds those of other files.
    package mutating func add(_ other: KnownFiles) { bytes.merge(other.bytes) { own, _ in own } }

    package mutating func add(_ file: [UInt8]) { bytes[PublicHash.hash(file)] = file }
}
