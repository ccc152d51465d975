// The messages of a pairing, and who may read, change or choose them.

import OMParcels
import OMRecords
import OMSecrets
import OMSyncKeys
import Testing

@Suite("Pairing") struct PairingTests {
    private func invitation(remotes: Int = 1, url: String? = nil) -> PairingInvitation {
        let remote = PairingInvitation.Remote(incarnation: bytes(1, 16), headNumber: 1, headDigest: bytes(2), url: url)
        return PairingInvitation(
            vault: vault, device: 7, rollNumber: 0, rollDigest: bytes(3), expires: 0, commitment: bytes(4),
            remotes: Array(repeating: remote, count: remotes))
    }

    private func request(head: SampleDevice = .two, member: SampleDevice = .two) -> PairingRequest {
        let two = SampleDevice.two
        return PairingRequest(
            invitation: bytes(5), two.keys, two.name, vault: vault, headKey: head.head, memberKey: member.member)
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

    @Test("a request proves that its sender has both signing keys")
    func proofs() {
        #expect(request().isSigned(vault: vault) && !request().isSigned(vault: bytes(0x12, 16)))
        #expect(!request(head: .one).isSigned(vault: vault) && !request(member: .one).isSigned(vault: vault))
    }

    @Test("the digits change with the vault, the invitation, the request and the random bytes")
    func digits() {
        let reveal = PairingReveal(request: bytes(6), random: bytes(7))
        let digits = reveal.digits(vault: vault, invitation: bytes(5))
        #expect(digits.count == 6 && digits.allSatisfy(\.isNumber))
        let others = [
            reveal.digits(vault: bytes(0x12, 16), invitation: bytes(5)), reveal.digits(vault: vault, invitation: bytes(8)),
            PairingReveal(request: bytes(8), random: bytes(7)).digits(vault: vault, invitation: bytes(5)),
            PairingReveal(request: bytes(6), random: bytes(8)).digits(vault: vault, invitation: bytes(5)),
        ]
        #expect(!others.contains(digits))
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
