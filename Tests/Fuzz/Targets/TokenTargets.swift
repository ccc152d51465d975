// Signed tokens and key sets from unknown sources.

import OMCrypto
import OMSecrets

enum TokenTargets {
    static let all = [
        FuzzTarget(name: "jws") { bytes in
            guard let token = try? JWS(SecretBytes(copying: bytes)), let key = try? key.publicKey() else { return }
            _ = try? token.verified(by: key, as: token.header.algorithm)
        },
        // The header of a token with a right signature: a token that is read is verified too, and its header is written again.
        FuzzTarget(name: "jws-header") { bytes in
            let message = Array("\(Base64URL.encode(bytes)).".utf8)
            guard let signature = try? key.sign(message, .ed25519) else { return }
            let text = message + Array(".\(Base64URL.encode(signature))".utf8)
            guard let token = try? JWS(SecretBytes(copying: text)), token.header.algorithm == .edDSA else { return }
            let verified = try? token.verified(by: key.publicKey(), as: .edDSA)
            precondition(verified != nil, "a signed token is not verified")
            // A name can be written with more bytes than it was read with, and the token is then too long.
            guard let again = try? JWS.sign([], token.header, with: key) else { return }
            let header = (try? JWS(again))?.header
            precondition(header == token.header, "a header is written as another")
        },
        FuzzTarget(name: "key-sets") { bytes in
            guard let keys = try? JWKSet(bytes) else { return }
            precondition(keys.count <= JWKSet.maximumKeys, "more keys than a set may have")
            for text in tokens {
                guard let token = try? JWS(SecretBytes(copying: text)) else { fatalError("no token") }
                _ = try? token.verified(by: keys, allowing: Set(JWSAlgorithm.allCases))
            }
        },
    ]

    /// RFC 8037 appendix A.1.
    static let key: PrivateKey = {
        let seed: [UInt8] = [
            0x9D, 0x61, 0xB1, 0x9D, 0xEF, 0xFD, 0x5A, 0x60, 0xBA, 0x84, 0x4A, 0xF4, 0x92, 0xEC, 0x2C, 0xC4, 0x44, 0x49,
            0xC5, 0x69, 0x7B, 0x32, 0x69, 0x19, 0x70, 0x3B, 0xAC, 0x03, 0x1C, 0xAE, 0x7F, 0x60,
        ]
        do { return try PrivateKey(ed25519: SecretBytes(copying: seed)) } catch { fatalError("no key: \(error)") }
    }()

    /// A token without `kid`, and one with `kid` 1.
    private static let tokens: [[UInt8]] = [nil, "1"].compactMap { keyID in
        guard let token = try? JWS.sign([], JWSHeader(.edDSA, keyID: keyID), with: key) else { return nil }
        return token.withBytes { [UInt8](copying: $0) }
    }
}
