// Signatures that a helper asks for: docs/formats/online-protocol.md, "Signatures".

import Foundation
import Glibc
import OMOnlineModel
import OMRecords
import OMSecrets
import OMVault
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol

/// Signs with a text, and notes what.
private final class NotingSigner: QuestionSigner {
    let asked = Locked<[String]>([])
    let answer: @Sendable () throws(OnlineRefusal) -> String

    init(_ answer: @escaping @Sendable () throws(OnlineRefusal) -> String = { "signed" }) { self.answer = answer }

    var vault: VaultPaths? { nil }

    func sign(_ use: IdentityUse, with identity: String) throws(OnlineRefusal) -> SecretBytes {
        asked.change { $0.append("\(identity) \(use)") }
        return bytes(try answer())
    }
}

@Suite("Signatures for a helper", .onOwnThreads) struct SignatureTests {
    /// `sign(PURPOSE)` asks for a signature, and returns the kind of the answer and its body behind the number.
    private static let start = """
        def sign(purpose):
            say(number + purpose, 0xa3)
            head = read(8)
            body = read(int.from_bytes(head[4:], 'big'))
            assert body[:16] == number
            open(here + '/answers', 'a').write(str(head[3]) + ' ' + body[16:].hex() + '\\n')
            return head[3], body[16:]
        token = b'\\1\\1\\x1f'
        blanks = b' ' * 64 + b'TLS 1.3, client CertificateVerify\\0'
        def handshake(text): return b'\\2\\4\\3' + len(text).to_bytes(2, 'big') + text
        ok = number + b'\\0\\0\\0\\0\\0\\1\\0\\0\\0\\1x\\0\\0\\0'

        """

    private func service(_ proof: ClientProof?) -> OnlineService {
        let oauth = OAuthService(
            .token("https://a.example/t", revocation: nil), clientID: "id", grant: .clientCredentials,
            issuer: "https://a.example", proof: proof ?? ClientProof())
        return OnlineService(.oauth(oauth), deadlines: patient)
    }

    private static let keyed = ClientProof(key: "robot")

    private func ask(_ script: String, of proof: ClientProof? = keyed, by signer: NotingSigner?) async throws -> (
        refusal: OnlineRefusal?, answers: [String]
    ) {
        let home = try await Impostor(Self.start + script)
        let question = OnlineQuestion.grant(of: service(proof), clientSecret: bytes(""))
        let refusal: OnlineRefusal?
        switch try home.client.ask(question, signing: signer) {
        case .accepted: refusal = nil
        case .refused(let given): refusal = given
        case .asked: refusal = .failed(.challenge)
        }
        #expect(home.isGone, "\(script)")
        let answers = (try? String(contentsOfFile: home.folder + "/answers", encoding: .utf8)) ?? ""
        return (refusal, answers.split(separator: "\n").map(String.init))
    }

    @Test("a helper gets three assertions, whose claims come from the profile; at the fourth request it is killed")
    func assertions() async throws {
        let signer = NotingSigner()
        let three = try await ask("for n in range(3): sign(token)\nsay(ok)", by: signer)
        #expect(three.refusal == nil)
        #expect(three.answers == Array(repeating: "34 00000006" + Hex.encode(Array("signed".utf8)), count: 3))
        #expect(
            signer.asked.value
                == Array(
                    repeating: "robot assertion(clientID: \"id\", audience: \"https://a.example\", algorithms: 31)", count: 3))
        let fourth = try await ask("for n in range(4): sign(token)\nsay(ok)", by: NotingSigner())
        #expect(fourth.refusal == .failed(.helper) && fourth.answers.count == 3)
    }

    @Test("a purpose that the question does not announce, another text, number or endpoint is refused, and nothing is signed")
    func refused() async throws {
        for (what, script, proof) in [
            ("no key", "sign(token)", nil), ("another method", "sign(token)", ClientProof(.secretInHeader, key: "robot")),
            ("a handshake", "sign(handshake(blanks + b'd' * 32))", Self.keyed),
            ("no prefix", "sign(handshake(b'd' * 130))", Self.keyed),
            ("another prefix", "sign(handshake(blanks.replace(b'client', b'server') + b'd' * 32))", Self.keyed),
            ("another digest", "sign(handshake(blanks + b'd' * 33))", Self.keyed),
            ("a page", "sign(b'\\1\\10\\x1f')", Self.keyed), ("no endpoint", "sign(b'\\1\\77\\x1f')", Self.keyed),
            ("a third purpose", "sign(b'\\3\\1')", Self.keyed), ("a byte more", "sign(token + b'x')", Self.keyed),
            ("no algorithm", "sign(b'\\1\\1\\0')", Self.keyed), ("a sixth algorithm", "sign(b'\\1\\1\\x20')", Self.keyed),
            ("another number", "say(bytes(16) + token, 0xa3)\nread(1)", Self.keyed),
        ] as [(String, String, ClientProof?)] {
            let signer = NotingSigner()
            let ran = try await ask(script + "\nsay(ok)", of: proof, by: signer)
            #expect(ran.refusal == .failed(.helper), "\(what)")
            #expect(ran.answers.isEmpty && signer.asked.value.isEmpty, "\(what)")
        }
    }

    @Test("after the answer, and after the deadline, nothing is signed")
    func late() async throws {
        let signer = NotingSigner()
        #expect(try await ask("say(ok)\nsay(number + token, 0xa3)", by: signer).refusal == nil)
        let home = try await Impostor(Self.start + "read(1)")
        let short = service(Self.keyed).within(OnlineDeadlines(connect: 1, total: 1))
        let late = try home.client.ask(.grant(of: short, clientSecret: bytes("")), signing: signer)
        guard case .refused(.failed(.helper, _, _)) = consume late else {
            Issue.record("the helper was not given up")
            return
        }
        #expect(home.isGone && signer.asked.value.isEmpty)
    }

    @Test("a locked key, no signer and no audience are told to the helper by their cause")
    func causes() async throws {
        let locked = NotingSigner { () throws(OnlineRefusal) in throw .failed(.lockedClientKey) }
        #expect(try await ask("sign(token)\nsay(ok)", by: locked).answers == ["35 33"])
        let lacking = NotingSigner { () throws(OnlineRefusal) in throw .failed(.noKeyAlgorithm) }
        #expect(try await ask("sign(token)\nsay(ok)", by: lacking).answers == ["35 34"])
        // Another refusal of the signer is none of the protocol.
        let failing = NotingSigner { () throws(OnlineRefusal) in throw .rejected }
        #expect(try await ask("sign(token)\nsay(ok)", by: failing).answers == ["35 32"])
        #expect(try await ask("sign(token)\nsay(ok)", by: nil).answers == ["35 32"])
        let signer = NotingSigner()
        let unknown = ClientProof(key: "robot", audience: .endpoint, endpoints: [ServerEndpoint(.revocation, "https://a/r")])
        #expect(try await ask("sign(token)\nsay(ok)", of: unknown, by: signer).answers == ["35 32"])
        #expect(signer.asked.value.isEmpty)
        _ = try await ask("sign(b'\\1\\2\\x1f')\nsay(ok)", of: unknown, by: signer)
        #expect(signer.asked.value == ["robot assertion(clientID: \"id\", audience: \"https://a/r\", algorithms: 31)"])
    }

    @Test("a program gets no signature of another text from the agent: each byte in front of the digest counts")
    func agent() throws {
        let paths = try #require(VaultPaths(vault: "/v", device: ""))
        let text = SigningPurpose.handshakePrefix + [UInt8](repeating: 7, count: 32)
        var body = SecretBuffer()
        let kind = AgentRequest.sign(paths, identity: "robot", .handshake(text: text, scheme: 0x0403)).encode(into: &body)
        let bytes = body.withBytes { body in body.indices.map { body[$0] } }
        func isRefused(_ bytes: [UInt8]) -> Bool {
            do throws(MalformedBytes) {
                _ = try AgentRequest.decode(kind.rawValue, bytes.span)
                return false
            } catch { return true }
        }
        #expect(!isRefused(bytes))
        let start = bytes.count - text.count
        for place in start..<start + SigningPurpose.handshakePrefix.count {
            var other = bytes
            other[place] ^= 1
            #expect(isRefused(other), "\(place)")
        }
        #expect(isRefused(Array(bytes.dropLast())) && isRefused(bytes + [7]))
    }

    @Test("the text of a handshake is exactly that of TLS 1.3, with a digest of three lengths")
    func handshakes() {
        let prefix = SigningPurpose.handshakePrefix
        #expect(prefix.count == 98 && prefix.last == 0)
        for count in [32, 48, 64] { #expect(SigningPurpose.isHandshake(prefix + [UInt8](repeating: 7, count: count))) }
        for text in [[], prefix, prefix + [7], Array(prefix.dropFirst()) + [UInt8](repeating: 7, count: 33)] {
            #expect(!SigningPurpose.isHandshake(text))
        }
    }
}
