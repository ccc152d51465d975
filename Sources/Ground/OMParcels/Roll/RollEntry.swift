// One signed change of the list of members. Format: docs/formats/sync.md, "Roll".

package import OMRecords
package import OMSecrets

package struct RollEntry: Hashable, Sendable {
    package enum Kind: UInt8, Hashable, Sendable {
        case found = 1
        case add = 2
        case remove = 3
        /// A device rescopes its own number and keys.
        case replace = 4
        case recovery = 5
    }

    /// The entry without anchor and signature.
    package struct Contents: Hashable, Sendable {
        package var kind: Kind
        /// The vault's id: 16 bytes.
        package var vault: [UInt8]
        /// 0, and 1 more with each entry.
        package var number: UInt32
        /// The digest of the entry before: 32 bytes, zeros for the first.
        package var previous: [UInt8]
        package var signer: UInt32
        /// For display only, in seconds since 1970.
        package var time: Int64
        /// The epoch of the lanes from this entry on.
        package var laneEpoch: UInt32
        package var added: [RollMember]
        /// By rising number.
        package var removed: [UInt32]
        package var wraps: [LaneWrap]

        package init(
            kind: Kind, vault: [UInt8], number: UInt32, previous: [UInt8], signer: UInt32, time: Int64, laneEpoch: UInt32,
            added: [RollMember], removed: [UInt32], wraps: [LaneWrap]
        ) {
            (self.kind, self.vault, self.number, self.previous) = (kind, vault, number, previous)
            (self.signer, self.time, self.laneEpoch) = (signer, time, laneEpoch)
            (self.added, self.removed, self.wraps) = (added, removed, wraps)
        }

        package var encoded: [UInt8] {
            var bytes = [RollEntry.version, kind.rawValue] + vault
            bytes.append(number: number)
            bytes += previous
            bytes.append(number: signer)
            bytes.append(number: time)
            bytes.append(number: laneEpoch)
            bytes.append(UInt8(added.count))
            for member in added { bytes += member.encoded }
            bytes.append(UInt8(removed.count))
            for number in removed { bytes.append(number: number) }
            bytes.append(number: UInt16(wraps.count))
            for wrap in wraps { bytes += wrap.encoded }
            return bytes
        }
    }

    static let version: UInt8 = 1
    package static let maximumCount = 16 << 10

    package let contents: Contents
    /// The proof by the recovery code that its member is genuine: 32 bytes, or nil.
    package let anchor: [UInt8]?
    package let signature: [UInt8]

    package init(_ contents: Contents, anchor: [UInt8]?, signedWith key: borrowing Key<Signing>) {
        (self.contents, self.anchor) = (contents, anchor)
        signature = EdwardsSignature.sign(Self.signed(contents, anchor), with: key, context: Self.context(contents.vault))
    }

    package var encoded: [UInt8] { Self.signed(contents, anchor) + signature }

    package var digest: [UInt8] { PublicHash.hash(encoded) }

    package func isSigned(by key: [UInt8]) -> Bool {
        EdwardsSignature.isRight(signature, of: Self.signed(contents, anchor), by: key, context: Self.context(contents.vault))
    }

    private static func signed(_ contents: Contents, _ anchor: [UInt8]?) -> [UInt8] {
        contents.encoded + (anchor.map { [1] + $0 } ?? [0])
    }

    private static func context(_ vault: [UInt8]) -> Context { Context(.syncRoll, .bytes(vault)) }

    /// - Throws: ``RollProblem/laterFormat`` for a version or kind of a later omvault; ``RollProblem/malformed``.
    package init(decoding bytes: [UInt8]) throws(RollProblem) {
        guard bytes.count >= 2, bytes.count <= Self.maximumCount, bytes[0] >= Self.version else { throw .malformed }
        guard bytes[0] == Self.version, bytes[1] <= Kind.recovery.rawValue else { throw .laterFormat }
        guard let kind = Kind(rawValue: bytes[1]) else { throw .malformed }
        do throws(MalformedBytes) { try self.init(kind, bytes.span) } catch { throw .malformed }
    }

    private init(_ kind: Kind, _ span: Span<UInt8>) throws(MalformedBytes) {
        var cursor = ByteCursor()
        _ = try cursor.skip(2, in: span)
        var contents = Contents(
            kind: kind, vault: try cursor.take(16, in: span), number: try cursor.number(in: span),
            previous: try cursor.take(32, in: span), signer: try cursor.number(in: span), time: try cursor.number(in: span),
            laneEpoch: try cursor.number(in: span), added: [], removed: [], wraps: [])
        for _ in 0..<Int(try cursor.number(UInt8.self, in: span)) { contents.added.append(try RollMember(&cursor, in: span)) }
        for _ in 0..<Int(try cursor.number(UInt8.self, in: span)) {
            let number = try cursor.number(UInt32.self, in: span)
            guard number > contents.removed.last ?? 0 else { throw MalformedBytes() }
            contents.removed.append(number)
        }
        for _ in 0..<Int(try cursor.number(UInt16.self, in: span)) { contents.wraps.append(try LaneWrap(&cursor, in: span)) }
        switch try cursor.number(UInt8.self, in: span) {
        case 0: anchor = nil
        case 1: anchor = try cursor.take(32, in: span)
        default: throw MalformedBytes()
        }
        signature = try cursor.take(EdwardsSignature.count, in: span)
        try cursor.end(in: span)
        self.contents = contents
    }
}
