import OMCrypto
import OMSecrets
import Testing

/// SSH's binary encoding, written here apart from the code under test.
enum SSHBytes {
    static func number(_ number: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }
    static func string(_ bytes: [UInt8]) -> [UInt8] { number(bytes.count) + bytes }
    static func string(_ text: String) -> [UInt8] { string(Array(text.utf8)) }

    /// The bytes that a login at an SSH server signs.
    static func login(
        session: [UInt8] = [UInt8](repeating: 7, count: 32), user: String = "git", service: String = "ssh-connection",
        method: String = "publickey", signs: UInt8 = 1, algorithm: String = "ssh-ed25519", key: [UInt8],
        hostKey: [UInt8]? = nil, kind: UInt8 = 50
    ) -> [UInt8] {
        var bytes = string(session) + [kind] + string(user) + string(service) + string(method)
        bytes += [signs] + string(algorithm) + string(key)
        return bytes + (hostKey.map { string($0) } ?? [])
    }

    /// The bytes that the signature of a file signs.
    static func file(
        magic: String = "SSHSIG", namespace: String = "git", reserved: String = "", hash: String = "sha512", count: Int = 64
    ) -> [UInt8] {
        let words = [namespace, reserved, hash].flatMap { string($0) }
        return Array(magic.utf8) + words + string([UInt8](repeating: 9, count: count))
    }

    static let hostBound = "publickey-hostbound-v00@openssh.com"
}

@Suite struct SSHAgentMessageTests {
    @Test("each request is read, and every cut of it and every byte more is refused")
    func requests() {
        let sign: [UInt8] = [13] + SSHBytes.string("key") + SSHBytes.string("data") + [0, 0, 0, 4]
        let bind: [UInt8] =
            [27] + ["session-bind@openssh.com", "host", "session", "signature"].flatMap { SSHBytes.string($0) } + [1]
        let query: [UInt8] = [27] + SSHBytes.string("query")
        #expect(SSHAgentMessage([11]) == .identities)
        #expect(SSHAgentMessage(sign) == .sign(key: Array("key".utf8), data: Array("data".utf8), flags: 4))
        #expect(
            SSHAgentMessage(bind)
                == .bind(
                    SSHBinding(
                        hostKey: Array("host".utf8), session: Array("session".utf8), signature: Array("signature".utf8),
                        isForwarding: true)))
        #expect(SSHAgentMessage(query) == .query)
        for whole in [[11], sign, bind, query] {
            #expect(SSHAgentMessage(whole + [0]) == nil)
            for count in 1..<whole.count { #expect(SSHAgentMessage(Array(whole.prefix(count))) == nil, "\(whole) \(count)") }
        }
        #expect(SSHAgentMessage(bind.dropLast() + [2]) == SSHAgentMessage(bind), "each number but 0 is true")
        #expect(SSHAgentMessage([]) == nil)
    }

    @Test("keys are neither added nor removed, nothing is locked, and an unknown extension is none")
    func others() {
        for kind: UInt8 in [1, 17, 18, 19, 20, 21, 22, 23, 25, 26, 0, 255] { #expect(SSHAgentMessage([kind, 1]) == .other) }
        for name in ["other@example.org", String(repeating: "a", count: 65)] {
            #expect(SSHAgentMessage([27] + SSHBytes.string(name) + [1]) == .other)
        }
    }

    @Test("a length above 256 KiB, and none, are refused from the head alone")
    func lengths() {
        #expect(SSHAgentMessage.count([0, 4, 0, 0]) == 256 << 10)
        for head: [UInt8] in [[0, 4, 0, 1], [0xFF, 0xFF, 0xFF, 0xFF], [0, 0, 0, 0], [0, 0, 1]] {
            #expect(SSHAgentMessage.count(head) == nil)
        }
        #expect(SSHAgentMessage([1] + [UInt8](repeating: 0, count: 256 << 10)) == nil)
    }

    @Test("a front serves where its vault is wanted, and no question before each signature that it does not ask")
    func fronts() {
        let fronts = [("a", false), ("a", true), ("b", false)].map { SSHFront(vault: Array($0.utf8), confirmsAll: $1) }
        for front in fronts {
            #expect(SSHAgentMessage(Array(front.question.dropFirst(4))) == .front(front))
            #expect(SSHAgentMessage.count(Array(front.question.prefix(4))) == front.question.count - 4)
        }
        #expect(fronts.map { fronts[0].serves($0) } == [true, false, false])
        #expect(fronts.map { fronts[1].serves($0) } == [true, true, false])
    }

    @Test("a list has as many keys as a message that ssh takes")
    func longList() {
        let keys = (0..<256).map { _ in (key: [UInt8](repeating: 1, count: 1100), comment: "a") }
        let bytes = SSHAgentAnswer.identities(keys).bytes
        let count = bytes[5..<9].reduce(0) { $0 << 8 | Int($1) }
        #expect(count == ((256 << 10) - 5) / 1109 && bytes.count == 4 + 5 + count * 1109)
    }

    @Test("the answers have the bytes of the protocol")
    func answers() {
        #expect(SSHAgentAnswer.failure.bytes == [0, 0, 0, 1, 5])
        #expect(SSHAgentAnswer.success.bytes == [0, 0, 0, 1, 6])
        #expect(SSHAgentAnswer.signature([1, 2]).bytes == [0, 0, 0, 7, 14, 0, 0, 0, 2, 1, 2])
        #expect(
            SSHAgentAnswer.identities([(key: [9], comment: "a")]).bytes
                == [0, 0, 0, 15, 12, 0, 0, 0, 1, 0, 0, 0, 1, 9, 0, 0, 0, 1, 97])
        let extensions: [UInt8] = [29] + SSHBytes.string("query") + SSHBytes.string("session-bind@openssh.com")
        #expect(SSHAgentAnswer.extensions.bytes == SSHBytes.string(extensions))
    }
}
