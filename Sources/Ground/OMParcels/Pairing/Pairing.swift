// What the two devices of a pairing check before they trust each other. Format: docs/formats/sync.md, "Pairing".

internal import OMSecrets

package enum PairingProblem: Error, Hashable, Sendable {
    /// The old device's clock is past the end of the invitation.
    case expired
    /// The request answers another invitation.
    case otherInvitation
    /// A key that cannot be one, or for which the sender has no private key.
    case badKeys
    /// The random bytes are not those of the invitation, or the old device took another request.
    case otherReveal
    /// The roll does not continue that of the invitation, or its entry does not add this device.
    case notAdded
    /// Another device made a recovery code that the old device does not know.
    case unknownCode
}

/// An invitation and the request that answers it.
package struct Pairing: Hashable, Sendable {
    package let invitation: PairingInvitation
    package let request: PairingRequest

    /// - Parameter now: The old device's clock, in seconds since 1970. Nil on the new device, whose clock does not count.
    package init(
        _ invitation: PairingInvitation, _ request: PairingRequest, at now: Int64?
    ) throws(PairingProblem) {
        guard now.map({ $0 <= invitation.expires }) ?? true else { throw .expired }
        guard request.invitation == invitation.digest else { throw .otherInvitation }
        // Attack: a thief of the code asks for a member with keys for which he finds signatures, or with those of another device.
        guard request.keys.canBeKeys(of: .device), RollMember.number(of: request.keys, vault: invitation.vault) != 0,
            request.isSigned(vault: invitation.vault)
        else { throw .badKeys }
        (self.invitation, self.request) = (invitation, request)
    }

    /// The six digits that the new device shows, and its user types into the old one.
    ///
    /// Attack: a thief read the code over the shoulder, and puts a request of his own. The old device committed itself to the
    /// random bytes before it took a request, so he cannot try requests until the digits are the same.
    package func digits(_ reveal: PairingReveal) throws(PairingProblem) -> String {
        guard reveal.request == request.digest, PairingInvitation.commitment(to: reveal.random) == invitation.commitment
        else { throw .otherReveal }
        let context = Context(
            .syncPairDigits, .bytes(invitation.vault), .bytes(invitation.digest), .bytes(request.digest), .bytes(reveal.random))
        let number = PublicHash.hash([], context: context).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let digits = String(number % 1_000_000)
        return String(repeating: "0", count: 6 - digits.count) + digits
    }

    /// The new device as a member, once the old one has signed its entry.
    ///
    /// Attack: the remote shows a roll that ends before a removal, or is another vault's.
    ///
    /// - Parameter roll: As the remote has it, checked from its first entry on.
    package func member(in roll: Roll, after done: PairingDone) throws(PairingProblem) -> RollMember {
        guard roll.vault == invitation.vault, done.entryNumber > invitation.rollNumber,
            roll.has(invitation.rollDigest, at: invitation.rollNumber), roll.has(done.entryDigest, at: done.entryNumber)
        else { throw .notAdded }
        let entry = roll.entries[Int(done.entryNumber)].contents
        guard entry.kind == .add, entry.signer == invitation.device, let added = entry.added.first,
            added.keys == request.keys, roll.members[added.number] == added
        else { throw .notAdded }
        return added
    }
}

extension Roll {
    fileprivate func has(_ digest: [UInt8], at number: UInt32) -> Bool {
        Int(number) < digests.count && digests[Int(number)] == digest
    }
}
