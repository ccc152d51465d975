// Client assertions (RFC 7523), and the schemes of a client's handshake (RFC 8446).

import OMJSON
import OMSecrets
import Testing

@testable import OMCrypto

@Suite("Client assertions") struct ClientAssertionTests {
    private static let assertion = ClientAssertion(clientID: "a \"1\"", audience: "https://i.example/é")

    private func members(_ part: Substring) throws -> [String: JSON] {
        let bytes = try Base64URL.decode(Array(part.utf8).span)
        return try #require(bytes.withBytes { bytes in (try? JSON(parsing: bytes))?.members })
    }

    @Test("an assertion has exactly the claims that the client writes, another jti each time, and one audience")
    func claims() throws {
        let key = try PrivateKey.generate(.ec(.p256))
        var names: Set<String> = []
        for _ in 0..<2 {
            let token = try Self.assertion.signed(by: key, certificate: nil, now: 1_700_000_000)
            let text = token.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
            let parts = text.split(separator: ".")
            let header = try members(parts[0]), claims = try members(parts[1])
            #expect(Set(header.keys) == ["alg", "typ"] && header["alg"]?.text == "ES256")
            #expect(Set(claims.keys) == ["iss", "sub", "aud", "jti", "iat", "exp"])
            #expect(claims["iss"]?.text == "a \"1\"" && claims["sub"] == claims["iss"])
            #expect(claims["aud"]?.text == "https://i.example/é")
            #expect(claims["iat"] == .number("1700000000") && claims["exp"] == .number("1700000300"))
            names.insert(try #require(claims["jti"]?.text))
            _ = try JWS(token).verified(by: key.publicKey(), as: .es256)
        }
        #expect(names.count == 2 && names.allSatisfy { $0.utf8.count == 43 })
    }

    @Test("each kind of key has its algorithm, and a key without one signs nothing")
    func kinds() throws {
        for (kind, algorithm) in [
            (.ec(.p256), .es256), (.ec(.p384), .es384), (.ed25519, .edDSA), (.rsa(bits: 2048), .rs256), (.ec(.p521), nil),
            (.x25519, nil),
        ] as [(KeyKind, JWSAlgorithm?)] {
            #expect(ClientAssertion.algorithm(for: kind) == algorithm)
        }
        let key = try PrivateKey.generate(.ec(.p521))
        #expect(throws: CryptoError.wrongKeyType) { _ = try Self.assertion.signed(by: key, certificate: nil, now: 0) }
    }

    @Test("a key signs with the first algorithm that the server takes and the key has, and with no other one")
    func lists() throws {
        let rsa = try PrivateKey.generate(.rsa(bits: 2048))
        for (names, algorithm) in [
            (["PS256", "ES256"], .ps256), (["PS256", "RS256"], .rs256), (["ES256"], nil), (["HS256"], nil), ([], nil),
        ] as [([String], JWSAlgorithm?)] {
            let allowed = ClientAssertion.algorithms(named: names)
            #expect(ClientAssertion.algorithm(for: rsa.kind, of: allowed) == algorithm, "\(names)")
            guard let algorithm else {
                #expect(throws: CryptoError.wrongKeyType) {
                    _ = try Self.assertion.signed(by: rsa, certificate: nil, now: 0, algorithms: allowed)
                }
                continue
            }
            let token = try Self.assertion.signed(by: rsa, certificate: nil, now: 0, algorithms: allowed)
            _ = try JWS(token).verified(by: rsa.publicKey(), as: algorithm)
        }
        #expect(ClientAssertion.algorithms(named: JWSAlgorithm.allCases.map(\.rawValue)) == ClientAssertion.everyAlgorithm)
    }

    @Test("a scheme of a handshake signs with its own kind of key only")
    func schemes() throws {
        let text = [UInt8](repeating: 0x20, count: 130)
        for kind in [KeyKind.ec(.p256), .ec(.p384), .ec(.p521), .ed25519, .rsa(bits: 2048)] {
            let key = try PrivateKey.generate(kind)
            var fitting = 0
            for scheme in HandshakeScheme.allCases where scheme.fits(kind) {
                try key.publicKey().verify(key.sign(text, scheme.signature), of: text, scheme.signature)
                fitting += 1
            }
            #expect(fitting == (kind == .rsa(bits: 2048) ? 3 : 1))
        }
        #expect(HandshakeScheme(rawValue: 0x0401) == nil)
    }
}
