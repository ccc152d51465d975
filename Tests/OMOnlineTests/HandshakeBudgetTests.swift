// The handshakes that a helper may have signed: docs/formats/online-protocol.md, "Signatures".

import OMOnlineModel
import OMVault
import TestSupport
import Testing

@testable import OMAgent
@testable import OMOnline

@Suite("The handshakes of a question") struct HandshakeBudgetTests {
    private static let blanks = [UInt8](repeating: 0x20, count: 64)
    private static let prefix = blanks + Array("TLS 1.3, client CertificateVerify".utf8) + [0]

    private func budget(tls12: Bool = false, chain: Bool = true) -> SignatureBudget {
        let addresses = BasicService(login: "https://a.example/login")
        let shown = chain ? ClientChain([[1]], of: "ada", allowsTLS12: tls12) : nil
        return SignatureBudget(
            OnlineService(.basic(addresses), deadlines: patient, chain: shown), .login(user: "ada"))
    }

    private func takes(_ text: [UInt8], tls12: Bool = false, chain: Bool = true) -> Bool {
        var budget = budget(tls12: tls12, chain: chain)
        return budget.take(.handshake(text: text, scheme: 0x0403)) != nil
    }

    /// A message of TLS 1.2 with a body of three bytes.
    private func message(_ type: UInt8) -> [UInt8] { [type, 0, 0, 3, 7, 7, 7] }

    private static let oauth = OnlineService.Kind.oauth(
        OAuthService(.token("https://a.example/t", revocation: nil), clientID: "id", proof: ClientProof(key: "robot")))

    /// How many purposes of a task are signed.
    private func count(_ purpose: SigningPurpose, _ kind: OnlineService.Kind, _ task: OnlineTask) -> Int {
        let service = OnlineService(kind, deadlines: patient, chain: ClientChain([[1]], of: "ada"))
        var budget = SignatureBudget(service, task), count = 0
        while budget.take(purpose) != nil, count < 9_999 { count += 1 }
        return count
    }

    @Test("a question has a handshake for each of its requests, with the identity of its certificate, and no further one")
    func requests() {
        let text = Self.prefix + [UInt8](repeating: 5, count: 32)
        let addresses = BasicService(login: "https://a.example/login")
        for (kind, task, expected) in [
            (.basic(addresses), .login(user: "ada"), 13), (.certificate(addresses), .login(user: "ada"), 13),
            (.basic(addresses), .check, 6), (.certificate(addresses), .logout(user: nil), 6),
            (Self.oauth, .login(user: "ada"), 5), (Self.oauth, .refresh, 5), (Self.oauth, .introspect, 5),
            (Self.oauth, .authorize(user: nil, seconds: 180, byDevice: false), 8),
            (Self.oauth, .authorize(user: nil, seconds: 4, byDevice: true), 8),
            (Self.oauth, .authorize(user: nil, seconds: 180, byDevice: true), 44),
        ] as [(OnlineService.Kind, OnlineTask, Int)] {
            #expect(count(.handshake(text: text, scheme: 0x0403), kind, task) == expected, "\(task)")
        }
        var budget = budget()
        let taken = budget.take(.handshake(text: text, scheme: 0x0403))
        #expect(taken == .use(.handshake(text: text, scheme: 0x0403), identity: "ada"))
        #expect(!takes(text, chain: false))
    }

    @Test("a login in a browser has four assertions, and one by a code has one more for every five seconds")
    func assertions() {
        for (task, expected) in [
            (.login(user: "ada"), 3), (.refresh, 3), (.logout(user: nil), 3),
            (.authorize(user: nil, seconds: 180, byDevice: false), 4),
            (.authorize(user: nil, seconds: 4, byDevice: true), 4), (.authorize(user: nil, seconds: 180, byDevice: true), 40),
        ] as [(OnlineTask, Int)] {
            #expect(count(.assertion(at: .token), Self.oauth, task) == expected, "\(task)")
        }
    }

    @Test("an assertion that is the grant is one more, at the token endpoint only if the client proves itself in another way")
    func minted() {
        func kind(_ method: ClientProof.Method, _ constraint: SenderConstraint = .none) -> OnlineService.Kind {
            .oauth(
                OAuthService(
                    .token("https://a.example/t", revocation: nil), clientID: "id", grant: .assertion,
                    issuer: "https://a.example",
                    browser: BrowserLogin(), proof: ClientProof(method, key: "robot"), constraint: constraint))
        }
        let minted = OnlineTask.assertion(user: nil, nil, keepsSession: true)
        let given = OnlineTask.assertion(user: nil, .jwt, keepsSession: true)
        for (method, endpoint, task, expected) in [
            (.automatic, .token, minted, 4), (.automatic, .token, given, 3), (.automatic, .revocation, minted, 4),
            (.none, .token, minted, 1), (.none, .revocation, minted, 0), (.none, .token, given, 0), (.none, .token, .refresh, 0),
            (.certificate, .token, minted, 1), (.secretInHeader, .introspection, minted, 0),
        ] as [(ClientProof.Method, ServerEndpoint.Kind, OnlineTask, Int)] {
            #expect(count(.assertion(at: endpoint), kind(method), task) == expected, "\(method) \(endpoint) \(task)")
        }
        #expect(count(.assertion(at: .token), kind(.none, .dpop), minted) == 2)
        #expect(count(.assertion(at: .token), kind(.automatic, .dpop), minted) == 6)
    }

    @Test("with bound tokens each request for tokens can be sent again with a nonce")
    func bound() {
        let text = Self.prefix + [UInt8](repeating: 5, count: 32)
        let kind = OnlineService.Kind.oauth(
            OAuthService(
                .token("https://a.example/t", revocation: nil), clientID: "id", proof: ClientProof(key: "robot"),
                constraint: .dpop))
        for (task, assertions, handshakes) in [
            (.refresh, 4, 7), (.authorize(user: nil, seconds: 180, byDevice: false), 5, 10),
            (.authorize(user: nil, seconds: 180, byDevice: true), 77, 82),
        ] as [(OnlineTask, Int, Int)] {
            #expect(count(.assertion(at: .token), kind, task) == assertions, "\(task)")
            #expect(count(.handshake(text: text, scheme: 0x0403), kind, task) == handshakes, "\(task)")
        }
    }

    @Test("a handshake that fits into no question for a signature is refused")
    func tooLong() throws {
        let longest = [UInt8](repeating: 1, count: 65_535)
        #expect(try ShownCertificate.purpose(longest, scheme: 1) == .handshake(text: longest, scheme: 1))
        #expect(throws: OnlineRefusal.untrusted(.handshake)) { try ShownCertificate.purpose(longest + [1], scheme: 1) }
    }

    @Test("only the text of a TLS 1.3 handshake of a client is signed")
    func texts() {
        for count in [32, 48, 64] { #expect(takes(Self.prefix + [UInt8](repeating: 5, count: count))) }
        for count in [0, 31, 33, 65] { #expect(!takes(Self.prefix + [UInt8](repeating: 5, count: count))) }
        #expect(!takes(Self.blanks + Array("TLS 1.3, server CertificateVerify".utf8) + [0] + [UInt8](repeating: 5, count: 32)))
        #expect(!takes([]))
        #expect(!takes(Array("eyJhbGciOiJFUzI1NiJ9".utf8)))
    }

    @Test("the messages of a TLS 1.2 handshake are signed only if the profile allows it, and only as a whole and in their order")
    func transcripts() {
        let types: [UInt8] = [1, 2, 11, 12, 13, 14, 11, 16]
        let whole = types.flatMap { message($0) }
        #expect(takes(whole, tls12: true))
        #expect(!takes(whole))
        #expect(takes(([1, 2, 11, 22, 13, 14, 11, 16] as [UInt8]).flatMap { message($0) }, tls12: true))
        for place in types.indices where types[place] != 12 {
            var fewer = types
            fewer.remove(at: place)
            #expect(!takes(fewer.flatMap { message($0) }, tls12: true), "\(fewer)")
        }
        for wrong in [
            [2, 1, 11, 13, 14, 11, 16], [1, 2, 11, 13, 14, 11, 16, 20], [1, 1, 2, 11, 13, 14, 11, 16],
            [0x30, 2, 11, 13, 14, 11, 16],
        ] as [[UInt8]] {
            #expect(!takes(wrong.flatMap { message($0) }, tls12: true), "\(wrong)")
        }
        #expect(!takes(whole + [0], tls12: true))
        #expect(!takes(Array(whole.dropLast()), tls12: true))
    }
}
