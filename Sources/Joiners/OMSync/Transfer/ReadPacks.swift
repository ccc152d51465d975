// The packs of the heads that a pull accepts. Format: docs/formats/sync.md, "Which heads are accepted".

package import OMParcels

/// The packs that were read for the heads of a pull, as far as there is memory for them.
package struct ReadPacks {
    /// Packs of more bytes are checked now, and read again when it is their turn.
    private static let mostBytes = 64 << 20

    private var packs: [UInt32: [UInt64: Pack]] = [:]
    private var count = 0

    package init() {}

    /// Reads the packs that a head lists, but for those of the known head.
    ///
    /// - Returns: Whether all are there and whole.
    mutating func read<Files: RemoteFiles>(_ head: Head, since known: Head?, _ files: Files) throws -> Bool {
        let said = head.statement
        return try read(said.packs, of: said.device, said.vault, since: known?.statement.packs ?? [], files)
    }

    /// - Parameters:
    ///   - listed: The packs that a head lists, by rising number.
    ///   - known: Those of the known head.
    /// - Returns: Whether all are there and whole.
    package mutating func read<Files: RemoteFiles>(
        _ listed: [Head.PackReference], of device: UInt32, _ vault: [UInt8], since known: [Head.PackReference], _ files: Files
    ) throws -> Bool {
        let old = Set(known)
        // The newest are taken first.
        for reference in listed.reversed() where !old.contains(reference) {
            guard packs[device]?[reference.number] == nil else { continue }
            guard let (pack, bytes) = try Self.pack(reference, of: device, vault, files) else { return false }
            guard count + bytes <= Self.mostBytes else { continue }
            packs[device, default: [:]][reference.number] = pack
            count += bytes
        }
        return true
    }

    /// - Returns: nil if the pack is not there, or is not what the head lists.
    package static func pack<Files: RemoteFiles>(
        _ reference: Head.PackReference, of device: UInt32, _ vault: [UInt8], _ files: Files
    ) throws -> (pack: Pack, count: Int)? {
        guard let bytes = try files.bytes(of: .pack(device: device, number: reference.number)),
            Pack.digest(of: bytes) == reference.digest, let pack = try? Pack(decoding: bytes),
            pack.vault == vault, pack.device == device, pack.number == reference.number
        else { return nil }
        return (pack, bytes.count)
    }

    func packs(of head: Head) -> [UInt64: Pack] { packs(of: head.statement.device) }

    package func packs(of device: UInt32) -> [UInt64: Pack] { packs[device] ?? [:] }
}
