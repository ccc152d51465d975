// The handshakes that a helper may have signed: docs/formats/online-protocol.md, "Signatures".

import OMOnlineModel
import OMVault
import TestSupport
import Testing

@testable import OMAgent

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

    @Test("a question has four handshakes with the identity of its certificate, and no fifth")
    func four() {
        var budget = budget()
        let text = Self.prefix + [UInt8](repeating: 5, count: 32)
        for _ in 0..<4 {
            let taken = budget.take(.handshake(text: text, scheme: 0x0403))
            #expect(taken?.identity == "ada")
            #expect(taken?.1 == .use(.handshake(text: text, scheme: 0x0403)))
        }
        #expect(budget.take(.handshake(text: text, scheme: 0x0403)) == nil)
        #expect(!takes(text, chain: false))
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
