internal import OMParcels

/// The packs that were read for the heads of a pull.
struct ReadPacks {
    private var packs: [UInt32: [UInt64: Pack]] = [:]

    /// Reads the packs that a head lists, but for those of the known head.
    ///
    /// - Returns: Whether all are there and whole.
    mutating func read<Files: RemoteFiles>(_ head: Head, since known: Head?, _ files: Files) throws -> Bool {
        let said = head.statement
        let old = Set(known?.statement.packs ?? [])
        for reference in said.packs where !old.contains(reference) {
            guard packs[said.device]?[reference.number] == nil else { continue }
            guard let bytes = try files.bytes(of: .pack(device: said.device, number: reference.number)),
                Pack.digest(of: bytes) == reference.digest, let pack = try? Pack(decoding: bytes),
                pack.vault == said.vault, pack.device == said.device, pack.number == reference.number
            else { return false }
            packs[said.device, default: [:]][reference.number] = pack
        }
        return true
    }

    func packs(of head: Head) -> [Pack] {
        head.statement.packs.compactMap { packs[head.statement.device]?[$0.number] }
    }
}
