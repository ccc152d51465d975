// The second message of a pairing: the keys of the new device. Format: docs/formats/sync.md, "Pairing".

package import OMRecords
package import OMSecrets

package struct PairingRequest: Hashable, Sendable {
    static let version: UInt8 = 1

    /// The digest of the invitation: 32 bytes.
    package let invitation: [UInt8]
    package let keys: RollMember.Keys
    package let name: DeviceName
    package let headSignature: [UInt8]
    package let memberSignature: [UInt8]

    /// - Parameters:
    ///   - vault: The vault's id: 16 bytes.
    ///   - headKey: The private key of `keys.head`.
    ///   - memberKey: That of `keys.member`.
    package init(
        invitation: [UInt8], _ keys: RollMember.Keys, _ name: DeviceName, vault: [UInt8], headKey: borrowing Key<Signing>,
        memberKey: borrowing Key<Signing>
    ) {
        precondition(invitation.count == 32, "fixed sizes")
        (self.invitation, self.keys, self.name) = (invitation, keys, name)
        let signed = Self.signed(invitation, keys, name)
        headSignature = EdwardsSignature.sign(signed, with: headKey, context: Self.context(vault))
        memberSignature = EdwardsSignature.sign(signed, with: memberKey, context: Self.context(vault))
    }

    package var encoded: [UInt8] { Self.signed(invitation, keys, name) + headSignature + memberSignature }

    package var digest: [UInt8] { PublicHash.hash(encoded) }

    /// Whether the new device has the two private keys that sign.
    ///
    /// Attack: a thief of the code asks for a member with the keys of another device.
    package func isSigned(vault: [UInt8]) -> Bool {
        let (signed, context) = (Self.signed(invitation, keys, name), Self.context(vault))
        return EdwardsSignature.isRight(headSignature, of: signed, by: keys.head, context: context)
            && EdwardsSignature.isRight(memberSignature, of: signed, by: keys.member, context: context)
    }

    private static func signed(_ invitation: [UInt8], _ keys: RollMember.Keys, _ name: DeviceName) -> [UInt8] {
        [version] + invitation + keys.encoded + name.counted
    }

    private static func context(_ vault: [UInt8]) -> Context { Context(.syncPairProof, .bytes(vault)) }

    package init(decoding bytes: [UInt8]) throws(MalformedBytes) {
        let span = bytes.span
        var cursor = ByteCursor()
        guard try cursor.number(UInt8.self, in: span) == Self.version else { throw MalformedBytes() }
        invitation = try cursor.take(32, in: span)
        keys = try RollMember.Keys(&cursor, in: span)
        name = try DeviceName(&cursor, in: span)
        headSignature = try cursor.take(EdwardsSignature.count, in: span)
        memberSignature = try cursor.take(EdwardsSignature.count, in: span)
        try cursor.end(in: span)
    }
}
