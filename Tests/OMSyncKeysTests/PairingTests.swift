// The messages of a pairing, and who may read, change or choose them.

import OMParcels
import OMRecords
import OMSecrets
import OMSyncKeys
import Testing

@Suite("Pairing") struct PairingTests {
    private func invitation(remotes: Int = 1, url: String? = nil) -> PairingInvitation {
        let remote = PairingInvitation.Remote(incarnation: bytes(1, 16), url: url)
        return PairingInvitation(
            vault: vault, device: 7, rollNumber: 0, rollDigest: bytes(3), expires: 0, commitment: bytes(4),
            remotes: Array(repeating: remote, count: remotes))
    }

    private func request() -> PairingRequest {
        let two = SampleDevice.two
        return PairingRequest(
            invitation: bytes(5), two.keys, two.name, vault: vault, headKey: two.head, memberKey: two.member)
    }

    @Test("a message opens with its code and at its place only, and not with a changed byte")
    func boxes() throws {
        let code = PairingCode.random()
        let other = PairingCode.random()
        let box = code.seal(.request, [1, 2, 3])
        #expect(box.count == 40 + 256)
        let opened = try code.open(.request, box)
        #expect(opened == [1, 2, 3])
        let elsewhere = [isOpened(.reveal, box, by: code), isOpened(.request, box, by: other)]
        #expect(elsewhere == [false, false])
        for index in box.indices {
            var changed = box
            changed[index] ^= 1
            let isOpened = isOpened(.request, changed, by: code)
            #expect(!isOpened, "byte \(index)")
        }
        let mailboxes = [code.mailbox, other.mailbox]
        #expect(mailboxes[0] != mailboxes[1] && mailboxes[0].count == 16)
    }

    private func isOpened(_ message: PairingCode.Message, _ box: [UInt8], by code: borrowing PairingCode) -> Bool {
        do {
            _ = try code.open(message, box)
            return true
        } catch { return false }
    }

    @Test("a code is read as people type it, and a wrong letter or another kind of code is found out")
    func typed() throws {
        let text = try PublishedBytes.read().pairingCode
        #expect(mailbox(typed: text) != nil)
        #expect(mailbox(typed: text.lowercased().replacing("-", with: " ")) == mailbox(typed: text))
        var letters = Array(text)
        letters[0] = letters[0] == "7" ? "8" : "7"
        #expect(mailbox(typed: String(letters)) == nil && mailbox(typed: String(text.dropLast())) == nil)
        #expect(mailbox(typed: try PublishedBytes.read().recoveryCode) == nil, "a recovery code is no pairing code")
    }

    private func mailbox(typed text: String) -> [UInt8]? {
        do { return try PairingCode(typed: SecretBytes(copying: Array(text.utf8))).mailbox } catch { return nil }
    }

    private static let random = bytes(7)

    /// An invitation of device one after the roll's founding, and the request of device two.
    private func pairing(
        digest: [UInt8]? = nil, head: SampleDevice = .two, member: SampleDevice = .two, wrapping: [UInt8]? = nil,
        of vault: [UInt8] = vault, expires: Int64 = 100, at now: Int64? = nil
    ) throws(PairingProblem) -> Pairing {
        let invitation = invitation(of: vault, expires: expires)
        let two = SampleDevice.two
        let keys = RollMember.Keys(
            head: two.keys.head, member: two.keys.member, wrapping: wrapping ?? two.keys.wrapping,
            alwaysWrapping: two.keys.alwaysWrapping)
        let request = PairingRequest(
            invitation: digest ?? invitation.digest, keys, two.name, vault: OMSyncKeysTests.vault, headKey: head.head,
            memberKey: member.member)
        return try Pairing(invitation, request, at: now)
    }

    private func invitation(of vault: [UInt8], expires: Int64) -> PairingInvitation {
        let remote = PairingInvitation.Remote(incarnation: bytes(1, 16), url: nil)
        return PairingInvitation(
            vault: vault, device: SampleDevice.one.number, rollNumber: 0, rollDigest: SampleRoll.founding.digest,
            expires: expires, commitment: PairingInvitation.commitment(to: Self.random), remotes: [remote])
    }

    @Test("the old device takes a request for its invitation, in time, whose sender has its two signing keys")
    func requests() throws {
        #expect(try pairing(at: 100).request.name == SampleDevice.two.name)
        #expect(throws: PairingProblem.expired) { try pairing(at: 101) }
        #expect(throws: PairingProblem.otherInvitation) { try pairing(digest: bytes(8)) }
        #expect(throws: PairingProblem.badKeys) { try pairing(head: .one) }
        #expect(throws: PairingProblem.badKeys) { try pairing(member: .one) }
        #expect(throws: PairingProblem.badKeys) { try pairing(of: bytes(0x12, 16)) }
        #expect(throws: PairingProblem.badKeys) { try pairing(wrapping: bytes(0)) }
    }

    @Test("the digits come from the random bytes of the invitation and the own request alone")
    func digits() throws {
        let pairing = try pairing()
        let digits = try pairing.digits(PairingReveal(request: pairing.request.digest, random: Self.random))
        #expect(digits.count == 6 && digits.allSatisfy(\.isNumber))
        for reveal in [
            PairingReveal(request: pairing.request.digest, random: bytes(8)),
            PairingReveal(request: bytes(8), random: Self.random),
        ] {
            #expect(throws: PairingProblem.otherReveal) { try pairing.digits(reveal) }
        }
        let later = try self.pairing(expires: 101)
        #expect(try later.digits(PairingReveal(request: later.request.digest, random: Self.random)) != digits)
    }

    @Test("the new device is a member if the roll continues that of the invitation, and the entry has its keys")
    func added() throws {
        let pairing = try pairing()
        let (roll, adding) = try SampleRoll.withTwo()
        let done = PairingDone(entryNumber: 1, entryDigest: adding.digest)
        #expect(try pairing.member(in: roll, after: done).number == SampleDevice.two.number)
        let others = [
            PairingDone(entryNumber: 1, entryDigest: bytes(8)), PairingDone(entryNumber: 2, entryDigest: adding.digest),
            PairingDone(entryNumber: 0, entryDigest: SampleRoll.founding.digest),
        ]
        for done in others {
            #expect(throws: PairingProblem.notAdded) { try pairing.member(in: roll, after: done) }
        }
        // The remote shows an older roll.
        #expect(throws: PairingProblem.notAdded) { try pairing.member(in: Roll(SampleRoll.founding), after: done) }
        // The entry adds another device, or the device was removed again.
        let (elsewhere, other) = try SampleRoll.withTwo(name: bytes(1, RollMember.nameBoxCount), SampleDevice(0x61, "phone"))
        #expect(throws: PairingProblem.notAdded) {
            try pairing.member(in: elsewhere, after: PairingDone(entryNumber: 1, entryDigest: other.digest))
        }
        var removed = roll
        try removed.append(SampleRoll.removal(of: SampleDevice.two.number, after: roll))
        #expect(throws: PairingProblem.notAdded) { try pairing.member(in: removed, after: done) }
        // Another vault's roll, or one with another beginning.
        let unknown = PairingInvitation(
            vault: vault, device: SampleDevice.one.number, rollNumber: 0, rollDigest: bytes(9), expires: 1,
            commitment: bytes(4), remotes: pairing.invitation.remotes)
        let request = PairingRequest(
            invitation: unknown.digest, SampleDevice.two.keys, SampleDevice.two.name, vault: vault,
            headKey: SampleDevice.two.head, memberKey: SampleDevice.two.member)
        let odd = try Pairing(unknown, request, at: nil)
        #expect(throws: PairingProblem.notAdded) { try odd.member(in: roll, after: done) }
    }

    @Test("each message is refused when it is cut, longer, or of another version")
    func malformed() {
        let messages = [
            invitation(url: "https://a.example/").encoded, request().encoded,
            PairingReveal(request: bytes(6), random: bytes(7)).encoded,
            PairingDone(entryNumber: 1, entryDigest: bytes(8)).encoded,
        ]
        for (index, message) in messages.enumerated() {
            #expect(isRead(index, message))
            for changed in [Array(message.dropLast()), message + [0], [2] + message.dropFirst(), []] {
                #expect(!isRead(index, changed), "message \(index)")
            }
        }
    }

    private func isRead(_ index: Int, _ bytes: [UInt8]) -> Bool {
        do {
            switch index {
            case 0: _ = try PairingInvitation(decoding: bytes)
            case 1: _ = try PairingRequest(decoding: bytes)
            case 2: _ = try PairingReveal(decoding: bytes)
            default: _ = try PairingDone(decoding: bytes)
            }
            return true
        } catch { return false }
    }

    @Test("an invitation names 1 to 16 remotes, with addresses of at most 1024 bytes and no blanks")
    func remotes() {
        let long = "https://" + String(repeating: "a", count: 1016)
        #expect(isRead(0, invitation(remotes: 16, url: long).encoded))
        #expect(!isRead(0, invitation(remotes: 0).encoded) && !isRead(0, invitation(remotes: 17).encoded))
        #expect(!isRead(0, invitation(url: long + "a").encoded) && !isRead(0, invitation(url: "https://a b/").encoded))
        #expect(!isRead(0, invitation(url: "https://a\u{1B}/").encoded))
    }
}
