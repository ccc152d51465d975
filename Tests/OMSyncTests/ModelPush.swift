// What a device of the model writes: real packs, with parcels whose content the model knows by their salt.

import OMParcels
import OMRecords
import OMSync

/// A push that is on the disk, and perhaps on the remote.
struct ModelPush {
    let head: ModelHead
    let packs: [(file: RemoteFile, bytes: [UInt8])]
    let written: [[UInt8]: ModelParcel]
    let lastPack: UInt64
}

/// An own parcel.
struct ModelParcel {
    var pack: UInt64
    let parcel: Parcel
    let version: SyncedVersion
}

extension SyncModel {
    /// Seals a version.
    mutating func seal(_ version: SyncedVersion, of id: [UInt8]) -> Parcel {
        nextToken += 1
        var salt = [UInt8](repeating: 0, count: 8)
        salt.append(number: nextToken)
        sealed[salt] = version
        let header = Parcel.Header(id: id, laneEpoch: 1, salt: salt, commitment: [UInt8](repeating: 0, count: 32))
        return Parcel(header: header, box: [UInt8](repeating: 0, count: Record.boxOverhead + Record.step))
    }

    /// The next push of a device: the packs with what the others have to learn, a pack for those that are joined, and a head.
    mutating func draft(_ device: inout ModelDevice) -> ModelPush {
        let files = ModelFiles(remotes[device.remote], for: device.number)
        let joins = device.packPlan.joins
        let old = joins.joined().reduce(into: [UInt64: Pack]()) { old, number in
            guard let reference = device.packs.first(where: { $0.number == number }) else { return }
            old[number] = pack(reference, of: device.number, files)
        }
        // The control: a pack that is gone stays in the head.
        if rules.contains(.lostPacks) {
            let lost = PushRule.lost(device.packs, of: device.number, on: Set(files.files()))
            device.packs.removeAll { lost.contains($0.number) }
            device.written = device.written.filter { !lost.contains($0.value.pack) }
        }
        var (written, lastPack, new) = (device.written, device.lastPack, [Pack]())
        func add(_ parcels: [Parcel]) {
            guard !parcels.isEmpty else { return }
            lastPack += 1
            new.append(Pack(vault: ModelMembers.vault, device: device.number, number: lastPack, parcels: parcels))
        }
        var parcels: [Parcel] = []
        for (id, version) in device.unwritten.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            let parcel = seal(version, of: id)
            parcels.append(parcel)
            written[id] = ModelParcel(pack: lastPack + 1, parcel: parcel, version: version)
        }
        add(parcels)
        var gone: Set<UInt64> = []
        for numbers in joins {
            let read = numbers.compactMap { old[$0] }
            guard PackPlan.canJoin(numbers, read, having: written.mapValues(\.pack)) else { continue }
            gone.formUnion(numbers)
            var kept: [Parcel] = []
            for pack in read {
                for parcel in pack.parcels where written[parcel.header.id]?.pack == pack.number {
                    written[parcel.header.id]?.pack = lastPack + 1
                    kept.append(parcel)
                }
            }
            add(kept)
        }
        let bytes = new.map { (file: RemoteFile.pack(device: device.number, number: $0.number), bytes: $0.encoded) }
        let listed =
            device.packs.filter { !gone.contains($0.number) }
            + zip(new, bytes).map { Head.PackReference(number: $0.number, digest: Pack.digest(of: $1.bytes)) }
        let head = ModelHead(
            signer: device.number, digest: nextDigest(), earlier: device.last.map { $0.earlier + [$0.digest] } ?? [],
            count: device.issued, parcels: written.mapValues(\.version), packs: listed,
            others: device.known.mapValues(\.reference), removed: device.removed, entry: device.roll?.last)
        signed[head.digest] = head.earlier.last
        return ModelPush(head: head, packs: bytes, written: written, lastPack: lastPack)
    }

    /// A pack that a device reads. The control: whatever is there under the name counts.
    func pack(_ reference: Head.PackReference, of signer: UInt32, _ files: ModelFiles) -> Pack? {
        guard !rules.contains(.packDigests) else {
            return try? ReadPacks.pack(reference, of: signer, ModelMembers.vault, files)?.pack
        }
        return files.bytes(of: .pack(device: signer, number: reference.number)).flatMap { try? Pack(decoding: $0) }
    }
}

extension ModelDevice {
    fileprivate var packPlan: PackPlan {
        var counts = Dictionary(packs.map { ($0.number, 0) }) { first, _ in first }
        for own in written.values { counts[own.pack, default: 0] += own.parcel.box.count + Parcel.Header.count + 4 }
        return PackPlan(counts.map { PackPlan.Pack(number: $0.key, count: $0.value) })
    }

    /// The versions that another device has to learn from this one.
    fileprivate var unwritten: [[UInt8]: SyncedVersion] {
        let others = known.values.filter { !removed.contains($0.signer) }
        return items.versions.filter { id, version in
            guard isOpen(version.level), stored[id] != version else { return false }
            let isListed = others.contains { $0.parcels[id] == version }
            let own = written[id].map { (seen: $0.version.seen, isSame: $0.version == version) }
            return PushRule.mustBeWritten(version.seen, over: own, isListed: isListed)
        }
    }
}
