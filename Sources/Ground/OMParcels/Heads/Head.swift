// What a device says of itself: its packs, its count of edits, and what it saw of others. Format: docs/formats/sync.md, "Head".

package import OMRecords
package import OMSecrets

package struct Head: Hashable, Sendable {
    /// A head of another device.
    package struct Reference: Hashable, Sendable {
        package let device: UInt32
        package let number: UInt64
        /// 32 bytes.
        package let digest: [UInt8]

        package init(device: UInt32, number: UInt64, digest: [UInt8]) {
            (self.device, self.number, self.digest) = (device, number, digest)
        }

        /// device (4) ‖ number (8) ‖ digest (32)
        package var encoded: [UInt8] {
            var bytes: [UInt8] = []
            bytes.append(number: device)
            bytes.append(number: number)
            return bytes + digest
        }
    }

    package struct PackReference: Hashable, Sendable {
        package let number: UInt64
        /// 32 bytes.
        package let digest: [UInt8]

        package init(number: UInt64, digest: [UInt8]) { (self.number, self.digest) = (number, digest) }
    }

    /// The statement without its signature.
    package struct Statement: Hashable, Sendable {
        /// The vault's id and the remote's incarnation: 16 bytes each.
        package var vault: [UInt8]
        package var incarnation: [UInt8]
        package var device: UInt32
        /// 1, and 1 more with each head of this device.
        package var number: UInt64
        /// The digests of the head before and of the head to which a walk may skip: 32 bytes each, zeros for none.
        package var previous: [UInt8]
        package var skip: [UInt8]
        package var laneEpoch: UInt32
        /// The last entry of the roll that the device knows.
        package var rollNumber: UInt32
        package var rollDigest: [UInt8]
        /// The highest count of an edit that the device gave out.
        package var count: UInt64
        /// For display only, in seconds since 1970.
        package var time: Int64
        /// The newest verified head of each other device, by rising device.
        package var others: [Reference]
        /// By rising number.
        package var packs: [PackReference]

        package init(
            vault: [UInt8], incarnation: [UInt8], device: UInt32, number: UInt64, previous: [UInt8], skip: [UInt8],
            laneEpoch: UInt32, rollNumber: UInt32, rollDigest: [UInt8], count: UInt64, time: Int64, others: [Reference],
            packs: [PackReference]
        ) {
            (self.vault, self.incarnation, self.device, self.number) = (vault, incarnation, device, number)
            (self.previous, self.skip, self.laneEpoch) = (previous, skip, laneEpoch)
            (self.rollNumber, self.rollDigest, self.count, self.time) = (rollNumber, rollDigest, count, time)
            (self.others, self.packs) = (others, packs)
        }
    }

    static let version: UInt8 = 1
    package static let maximumOthers = 4096
    package static let maximumPacks = 1024
    /// Enough for 169 bytes, 44 for each other device, 40 for each pack, and the signature.
    package static let maximumCount = 256 << 10

    package let statement: Statement
    package let signature: [UInt8]

    package init(_ statement: Statement, signedWith key: borrowing Key<Signing>) {
        self.statement = statement
        signature = EdwardsSignature.sign(statement.encoded, with: key, context: Self.context(statement.vault))
    }

    package var encoded: [UInt8] { statement.encoded + signature }

    package var digest: [UInt8] { PublicHash.hash(encoded) }

    /// - Parameter key: The head key of the device, from the roll.
    package func isSigned(by key: [UInt8]) -> Bool {
        EdwardsSignature.isRight(signature, of: statement.encoded, by: key, context: Self.context(statement.vault))
    }

    /// The number of the head to which `skip` leads from this number, or 0.
    package static func skipped(from number: UInt64) -> UInt64 { number & (number &- 1) }

    private static func context(_ vault: [UInt8]) -> Context { Context(.syncHead, .bytes(vault)) }

    package init(decoding bytes: [UInt8]) throws(MalformedBytes) {
        let span = bytes.span
        var cursor = ByteCursor()
        statement = try Statement(&cursor, in: span)
        signature = try cursor.take(EdwardsSignature.count, in: span)
        try cursor.end(in: span)
    }
}

extension Head.Statement {
    package var encoded: [UInt8] {
        var bytes = [Head.version] + vault + incarnation
        bytes.append(number: device)
        bytes.append(number: number)
        bytes += previous + skip
        bytes.append(number: laneEpoch)
        bytes.append(number: rollNumber)
        bytes += rollDigest
        bytes.append(number: count)
        bytes.append(number: time)
        bytes.append(number: UInt16(others.count))
        for other in others { bytes += other.encoded }
        bytes.append(number: UInt16(packs.count))
        for pack in packs {
            bytes.append(number: pack.number)
            bytes += pack.digest
        }
        return bytes
    }

    fileprivate init(_ cursor: inout ByteCursor, in span: Span<UInt8>) throws(MalformedBytes) {
        guard try cursor.number(UInt8.self, in: span) == Head.version else { throw MalformedBytes() }
        vault = try cursor.take(16, in: span)
        incarnation = try cursor.take(16, in: span)
        device = try cursor.number(in: span)
        number = try cursor.number(in: span)
        previous = try cursor.take(32, in: span)
        skip = try cursor.take(32, in: span)
        laneEpoch = try cursor.number(in: span)
        rollNumber = try cursor.number(in: span)
        rollDigest = try cursor.take(32, in: span)
        count = try cursor.number(in: span)
        time = try cursor.number(in: span)
        others = []
        for _ in 0..<Int(try cursor.number(UInt16.self, in: span)) {
            let other = Head.Reference(
                device: try cursor.number(in: span), number: try cursor.number(in: span), digest: try cursor.take(32, in: span))
            guard other.device > others.last?.device ?? 0, other.device != device, other.number > 0 else {
                throw MalformedBytes()
            }
            others.append(other)
        }
        packs = []
        for _ in 0..<Int(try cursor.number(UInt16.self, in: span)) {
            let pack = Head.PackReference(number: try cursor.number(in: span), digest: try cursor.take(32, in: span))
            guard pack.number > packs.last?.number ?? 0 else { throw MalformedBytes() }
            packs.append(pack)
        }
        let zeros = [UInt8](repeating: 0, count: 32)
        guard device > 0, number > 0, laneEpoch > 0, count <= 1 << 48, others.count <= Head.maximumOthers,
            packs.count <= Head.maximumPacks, (number == 1) == (previous == zeros),
            (Head.skipped(from: number) == 0) == (skip == zeros)
        else { throw MalformedBytes() }
    }
}
