// A member of the roll: a device, or the recovery code. Format: docs/formats/sync.md, "Roll".

package import OMRecords
internal import OMSecrets

package struct RollMember: Hashable, Sendable {
    package enum Kind: UInt8, Hashable, Sendable {
        case device = 1
        case recovery = 2
    }

    /// The public keys of a member: 32 bytes each.
    package struct Keys: Hashable, Sendable {
        /// Ed25519. It signs heads. Zeros for the recovery code, which signs none.
        package let head: [UInt8]
        /// Ed25519. It signs entries of the roll.
        package let member: [UInt8]
        /// X25519, for the lanes of the two stricter levels and the link.
        package let wrapping: [UInt8]
        /// X25519, for the lane of `always`.
        package let alwaysWrapping: [UInt8]

        package init(head: [UInt8], member: [UInt8], wrapping: [UInt8], alwaysWrapping: [UInt8]) {
            (self.head, self.member, self.wrapping, self.alwaysWrapping) = (head, member, wrapping, alwaysWrapping)
        }

        package var encoded: [UInt8] { head + member + wrapping + alwaysWrapping }

        /// Whether each key can be one.
        ///
        /// Attack: a key of low order, under which one signature fits every message, or with which a secret is known to all.
        func canBeKeys(of kind: Kind) -> Bool {
            let hasHeadKey = kind == .device ? EdwardsPoint.isPublicKey(head.span) : head == [UInt8](repeating: 0, count: 32)
            return hasHeadKey && EdwardsPoint.isPublicKey(member.span) && MontgomeryPoint.isPublicKey(wrapping)
                && MontgomeryPoint.isPublicKey(alwaysWrapping)
        }

        init(_ cursor: inout ByteCursor, in span: Span<UInt8>) throws(MalformedBytes) {
            head = try cursor.take(32, in: span)
            member = try cursor.take(32, in: span)
            wrapping = try cursor.take(32, in: span)
            alwaysWrapping = try cursor.take(32, in: span)
        }
    }

    /// The bytes of a name's box: its name has at most 64 bytes, with its length before it.
    package static let nameBoxCount = 40 + 64

    package let number: UInt32
    package let kind: Kind
    package let keys: Keys
    package let nameBox: [UInt8]

    /// - Parameters:
    ///   - vault: The vault's id: 16 bytes. With the keys it gives the number.
    ///   - nameBox: The sealed name.
    package init(_ kind: Kind, _ keys: Keys, vault: [UInt8], nameBox: [UInt8]) {
        precondition(nameBox.count == Self.nameBoxCount, "fixed sizes")
        (self.kind, self.keys, self.nameBox) = (kind, keys, nameBox)
        number = Self.number(of: keys, vault: vault)
    }

    /// The number that these keys give in a vault. A member with the number 0 makes other keys.
    package static func number(of keys: Keys, vault: [UInt8]) -> UInt32 {
        PublicHash.hash(keys.encoded, context: Context(.syncDevice, .bytes(vault))).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Whether the number is that of the keys, and each key can be one.
    func isSound(vault: [UInt8]) -> Bool {
        number != 0 && number == Self.number(of: keys, vault: vault) && keys.canBeKeys(of: kind)
    }

    /// number (4) ‖ kind (1) ‖ four keys (32 each) ‖ box of the name (104)
    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(number: number)
        bytes.append(kind.rawValue)
        return bytes + keys.encoded + nameBox
    }

    init(_ cursor: inout ByteCursor, in span: Span<UInt8>) throws(MalformedBytes) {
        number = try cursor.number(in: span)
        guard let kind = Kind(rawValue: try cursor.number(in: span)) else { throw MalformedBytes() }
        self.kind = kind
        keys = try Keys(&cursor, in: span)
        nameBox = try cursor.take(Self.nameBoxCount, in: span)
    }
}
