// A signer with the private key in the test's own process.

import Foundation
import OMCrypto
import OMOnline
import OMOnlineModel
import OMSecrets
import Synchronization
import TestSupport

final class LocalSigner: IdentitySigner {
    private let key: PrivateKey
    private let signed = Mutex<[[UInt8]]>([])

    /// The texts that were signed.
    var texts: [[UInt8]] { signed.withLock { $0 } }

    init(_ pem: [UInt8]) throws { key = try KeyFile(SecretBytes(copying: pem)).privateKey() }

    func sign(_ purpose: SigningPurpose) async throws(OnlineRefusal) -> SecretBytes {
        guard case .handshake(let text, let scheme) = purpose else { throw .failed(.helper) }
        return try signature(of: text, scheme: scheme)
    }

    func signature(of text: [UInt8], scheme: UInt16) throws(OnlineRefusal) -> SecretBytes {
        guard let algorithm = Self.schemes[scheme], let signature = try? key.sign(text, algorithm) else {
            throw .failed(.helper)
        }
        signed.withLock { $0.append(text) }
        return SecretBytes(copying: signature)
    }

    private static let schemes: [UInt16: OMCrypto.SignatureAlgorithm] = [
        0x0403: .ecdsa(.sha256), 0x0503: .ecdsa(.sha384), 0x0603: .ecdsa(.sha512), 0x0804: .rsaPSS(.sha256),
        0x0805: .rsaPSS(.sha384), 0x0806: .rsaPSS(.sha512), 0x0807: .ed25519,
    ]
}

/// A signer that has no key now.
struct LockedSigner: IdentitySigner {
    func sign(_ purpose: SigningPurpose) async throws(OnlineRefusal) -> SecretBytes { throw .failed(.cancelled) }
}

extension Server {
    /// The certificate and the key of a client of the kind `mutual`.
    func client(_ name: String, tls12: Bool = false) throws -> (chain: ClientChain, signer: LocalSigner) {
        func file(_ end: String) throws -> [UInt8] {
            Array(try Data(contentsOf: URL(filePath: "\(self["folder"])/\(name).\(end)")))
        }
        let certificate = try Certificate.all(in: SecretBytes(copying: try file("crt")))
        guard let chain = ClientChain(certificate.map(\.der), of: name, allowsTLS12: tls12) else { throw NoSession() }
        return (chain, try LocalSigner(try file("key")))
    }
}
