// The key of one level and one lane epoch. It seals what leaves the device. Format: docs/formats/sync.md, "Parcel" and "Levels".

package import OMParcels
package import OMRecords
package import OMSecrets

package final class Lane: Sendable {
    package let level: ProtectionLevel.Availability
    package let epoch: UInt32
    private let key: Key<Deriving>

    package init(_ level: ProtectionLevel.Availability, epoch: UInt32, _ key: consuming Key<Deriving>) {
        (self.level, self.epoch) = (level, epoch)
        self.key = key
    }

    /// A new lane.
    package static func random(_ level: ProtectionLevel.Availability, epoch: UInt32) -> Lane {
        Lane(level, epoch: epoch, .random())
    }

    /// Lends the key to the one caller that stores it or wraps it for a member.
    package func withKey<R: ~Copyable, E: Error>(_ body: (borrowing Key<Deriving>) throws(E) -> R) throws(E) -> R {
        try body(key)
    }

    // MARK: - Parcels

    /// - Parameters:
    ///   - content: That of an item's version, or of a chunk, without padding.
    ///   - id: That of the item or chunk: 16 bytes.
    ///   - vault: The vault's id: 16 bytes.
    package func seal(_ kind: OpenedParcel.Kind, _ content: borrowing SecretBytes, id: [UInt8], vault: [UInt8]) -> Parcel {
        let salt = Random.bytes(16)
        let header = Parcel.Header(id: id, laneEpoch: epoch, salt: salt, commitment: commitment(id, salt))
        let count = (2 + content.count + Record.step - 1) / Record.step * Record.step
        precondition(count <= Parcel.maximumSteps * Record.step, "a content of an item or chunk fits into a parcel")
        let padded = SecretBytes(count: count) { target in
            (target[0], target[1]) = (kind.rawValue, level.rawValue)
            content.withBytes { content in for index in content.indices { target[2 + index] = content[index] } }
        }
        return Parcel(
            header: header, box: AEAD.seal(padded, using: parcelKey(header), context: Self.context(header, vault)).bytes)
    }

    /// Whether the parcel was sealed with this lane. The box is not looked at.
    package func isOf(_ header: Parcel.Header) -> Bool {
        header.laneEpoch == epoch
            && ConstantTime.areEqual(commitment(header.id, header.salt).span, header.commitment.span)
    }

    /// The content of a parcel of this lane, with the zeros behind it.
    ///
    /// - Throws: ``SecretsError/cannotOpen`` for a parcel of another lane or vault, or with a changed byte or another level.
    package func open(_ parcel: Parcel, vault: [UInt8]) throws(SecretsError) -> OpenedParcel {
        guard isOf(parcel.header) else { throw .cannotOpen }
        let opened = try AEAD.open(
            SealedBox(stored: parcel.box), using: parcelKey(parcel.header), context: Self.context(parcel.header, vault))
        let (kind, level) = opened.withBytes { (OpenedParcel.Kind(rawValue: $0[0]), $0[1]) }
        guard let kind, level == self.level.rawValue else { throw .cannotOpen }
        let content = opened.withBytes { SecretBytes(copying: $0.extracting(2..<$0.count)) }
        return OpenedParcel(kind: kind, level: self.level, content: content)
    }

    private func parcelKey(_ header: Parcel.Header) -> Key<Sealing> {
        key.derive(Context(.syncParcelKey, .bytes(header.id), .bytes(header.salt)))
    }

    private func commitment(_ id: [UInt8], _ salt: [UInt8]) -> [UInt8] {
        key.fingerprint(Context(.syncCommit, .bytes(id), .bytes(salt)))
    }

    /// Attack: a parcel is put in the place of another one, or into another vault.
    private static func context(_ header: Parcel.Header, _ vault: [UInt8]) -> Context {
        Context(.syncParcel, .bytes(vault), .bytes(header.encoded))
    }

    // MARK: - Lowerings

    /// The lowering with its MAC. This lane is that of the level which the item left.
    ///
    /// - Parameters:
    ///   - item: The id of the item: 16 bytes.
    ///   - vault: The vault's id: 16 bytes.
    package func prove(_ lowering: Lowering, item: [UInt8], vault: [UInt8]) -> StoredLowering {
        precondition(lowering.from == level, "only the lane of the level that was left proves a lowering")
        return StoredLowering(lowering, laneEpoch: epoch, mac: mac(lowering, item, vault))
    }

    /// Attack: the thief of a less strict lane makes a lowering of an item, to get power over it.
    package func proves(_ stored: StoredLowering, item: [UInt8], vault: [UInt8]) -> Bool {
        stored.laneEpoch == epoch && stored.claimed.from == level
            && ConstantTime.areEqual(mac(stored.claimed, item, vault).span, stored.mac.span)
    }

    private func mac(_ lowering: Lowering, _ item: [UInt8], _ vault: [UInt8]) -> [UInt8] {
        MAC.tag(
            of: StoredLowering.authenticated(lowering, laneEpoch: epoch),
            using: key.derive(Context(.syncLoweringKey), as: Authenticating.self),
            context: Context(.syncLowering, .bytes(vault), .bytes(item)))
    }
}
