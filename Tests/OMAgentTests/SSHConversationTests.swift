// One connection of an ssh-agent: when a person is asked, and what is refused without a question.

import Glibc
import OMCrypto
import Synchronization
import Testing

@testable import OMAgent
@testable import OMAgentProtocol
@testable import OMItems

@Suite("A connection of the ssh-agent") struct SSHConversationTests {
    /// Two keys, and what was asked and signed.
    private final class Source: SSHKeySource {
        let offered: [OfferedSSHKey]
        let signed = Mutex(0)
        let asked: Asked
        private let questions: SSHQuestions

        /// - Parameter answers: Of a person, in turn. After them the last one counts.
        init(_ answers: Bool?...) throws {
            offered = try [("plain", false), ("tagged", true)].map { name, asks in
                let key = try PrivateKey.generate(.ed25519).publicKey().openSSHBlob().blob
                return OfferedSSHKey(try ItemName(name), asks: asks, publicKey: key)
            }
            let asked = Asked()
            self.asked = asked
            questions = SSHQuestions { question in
                let index = asked.note(question.item.text + (question.isForwarded ? " forwarded" : ""))
                return answers[min(index, answers.count - 1)]
            }
        }

        func keys() -> [OfferedSSHKey] { offered }

        func sign(_ data: [UInt8], with key: OfferedSSHKey, flags: UInt32) -> [UInt8]? {
            signed.withLock { $0 += 1 }
            return [1]
        }

        func conversation(confirmsAll: Bool = false, over connection: Int32 = -1) -> SSHConversation {
            SSHConversation(
                self, for: AskingProgram(FrameChannel(-1)), over: connection,
                as: SSHFront(vault: [1], confirmsAll: confirmsAll), asking: questions)
        }

        func sign(_ index: Int, _ data: [UInt8] = SSHConversationTests.file) -> SSHAgentMessage {
            .sign(key: offered[index].publicKey, data: data, flags: 0)
        }
    }

    private final class Asked: Sendable {
        private let all = Mutex<[String]>([])
        var words: [String] { all.withLock { $0 } }

        /// - Returns: How many there were before.
        func note(_ words: String) -> Int {
            all.withLock { all in
                all.append(words)
                return all.count - 1
            }
        }
    }

    private static func string(_ bytes: [UInt8]) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: bytes.count >> $0) } + bytes
    }

    fileprivate static let file =
        Array("SSHSIG".utf8) + ["git", "", "sha256"].flatMap { string(Array($0.utf8)) }
        + string([UInt8](repeating: 9, count: 32))

    private static func forwarding(isForged: Bool = false) throws -> SSHAgentMessage {
        let key = try PrivateKey.generate(.ed25519), session = [UInt8](repeating: 1, count: 32)
        return .bind(
            SSHBinding(
                hostKey: try key.publicKey().openSSHBlob().blob, session: session,
                signature: isForged ? [] : try SSHSignature.make(session, with: key, "ssh-ed25519"), isForwarding: true))
    }

    @Test("a forwarded use asks, a tagged key asks, and after a no the connection gets no further question")
    func questions() throws {
        let (yes, no) = (try Source(true), try Source(false))
        var local = yes.conversation()
        #expect(local.answer(yes.sign(0)) == .signature([1]) && yes.asked.words.isEmpty)
        #expect(local.answer(yes.sign(1)) == .signature([1]) && yes.asked.words == ["tagged"])
        var all = yes.conversation(confirmsAll: true)
        #expect(all.answer(yes.sign(0)) == .signature([1]) && yes.asked.words == ["tagged", "plain"])
        var far = yes.conversation()
        #expect(try far.answer(Self.forwarding()) == .success)
        #expect(far.answer(yes.sign(0)) == .signature([1]) && yes.asked.words.last == "plain forwarded")

        // ssh goes on after a refusal.
        var unread = yes.conversation()
        #expect(try unread.answer(Self.forwarding(isForged: true)) == .failure)
        #expect(
            unread.answer(yes.sign(0)) == .signature([1]) && yes.asked.words.suffix(2) == ["plain forwarded", "plain forwarded"])
        #expect(unread.isForwarded && !local.isForwarded)

        var refused = no.conversation()
        #expect(refused.answer(no.sign(1)) == .failure && no.asked.words == ["tagged"])
        #expect(refused.answer(no.sign(1)) == .failure && no.asked.words.count == 1, "no second question")
        #expect(refused.answer(no.sign(0)) == .signature([1]), "this one needs no question")
        #expect(no.signed.withLock { $0 } == 1)
    }

    @Test("after three noes in a row a machine gets no further question, and other machines do")
    func tired() throws {
        // A yes begins the count again.
        let source = try Source(false, false, true, false), (bind, other) = (try Self.forwarding(), try Self.forwarding())
        for (index, asked) in [1, 2, 3, 4, 5, 6, 6, 6].enumerated() {
            var far = source.conversation()
            #expect(far.answer(bind) == .success)
            #expect((far.answer(source.sign(0)) == .failure) == (index != 2))
            #expect(source.asked.words.count == asked)
        }
        var far = source.conversation(), here = source.conversation()
        #expect(far.answer(other) == .success && far.answer(source.sign(0)) == .failure && source.asked.words.count == 7)
        #expect(here.answer(source.sign(1)) == .failure && source.asked.words.count == 8)
    }

    @Test("a question is not shown for a program that has gone, and one that goes before the answer has not got a no")
    func abandoned() throws {
        let source = try Source(nil, nil, nil, nil, false), bind = try Self.forwarding()
        for count in 1...6 {
            var far = source.conversation()
            #expect(far.answer(bind) == .success && far.answer(source.sign(0)) == .failure)
            #expect(source.asked.words.count == count)
        }
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { close(ends[0]) }
        var here = source.conversation(over: ends[0])
        #expect(here.answer(source.sign(1)) == .failure && source.asked.words.count == 7)
        close(ends[1])
        var gone = source.conversation(over: ends[0])
        #expect(gone.answer(source.sign(1)) == .failure && source.asked.words.count == 7)
    }

    @Test("a machine that leaves its questions gets no 17th")
    func left() throws {
        let source = try Source(nil), bind = try Self.forwarding()
        for count in 1...18 {
            var far = source.conversation()
            #expect(far.answer(bind) == .success && far.answer(source.sign(0)) == .failure)
            #expect(source.asked.words.count == min(count, 16))
        }
    }

    @Test("a front says what it does to programs of this machine only")
    func fronts() throws {
        let source = try Source(true), wanted = SSHFront(vault: [1], confirmsAll: false)
        var here = source.conversation(confirmsAll: true), far = source.conversation()
        #expect(here.answer(.front(wanted)) == .success)
        #expect(here.answer(.front(SSHFront(vault: [2], confirmsAll: false))) == .failure)
        #expect(far.answer(.front(SSHFront(vault: [1], confirmsAll: true))) == .failure)
        #expect(try far.answer(Self.forwarding()) == .success && far.answer(.front(wanted)) == .failure)
    }

    @Test("no other bytes, unknown key, addition, removal or lock has an effect, and the list has the items' names")
    func refusals() throws {
        let source = try Source(true)
        var conversation = source.conversation()
        #expect(conversation.answer(.other) == .failure && conversation.answer(.query) == .extensions)
        #expect(conversation.answer(source.sign(0, Array("eyJhbGciOiJFZERTQSJ9.e30".utf8))) == .failure)
        #expect(conversation.answer(source.sign(1, [1])) == .failure && source.asked.words.isEmpty)
        #expect(conversation.answer(.sign(key: [1], data: Self.file, flags: 0)) == .failure)
        #expect(source.signed.withLock { $0 } == 0)
        #expect(
            conversation.answer(.identities)
                == .identities(source.offered.map { (key: $0.publicKey, comment: $0.item.text) }))
    }
}
