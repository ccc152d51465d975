// The private key of an identity, in the process that signs with it.

internal import OMCrypto
package import OMItems
package import OMSecrets

/// A key that only signs: no call returns it.
package final class IdentityKey: Sendable {
    private let key: PrivateKey
    private let certificate: Certificate?

    init(_ key: consuming PrivateKey, _ certificate: Certificate?) {
        self.key = key
        self.certificate = certificate
    }

    /// - Parameter now: Seconds since 1970.
    /// - Returns: nil if this key cannot make such a signature.
    package func sign(_ use: IdentityUse, now: Int64) -> SecretBytes? {
        switch use {
        case .assertion(let client, let audience, let algorithms):
            return try? ClientAssertion(clientID: client, audience: audience).signed(
                by: key, certificate: certificate, now: now, algorithms: algorithms)
        case .handshake(let text, let scheme):
            guard let scheme = HandshakeScheme(rawValue: scheme), scheme.fits(key.kind),
                let signature = try? key.sign(text, scheme.signature)
            else { return nil }
            return SecretBytes(copying: signature)
        }
    }

    /// Whether this key makes assertions, but with none of the algorithms that the use allows.
    package func lacksAlgorithm(for use: IdentityUse) -> Bool {
        guard case .assertion(_, _, let algorithms) = use, ClientAssertion.algorithm(for: key.kind) != nil else { return false }
        return ClientAssertion.algorithm(for: key.kind, of: algorithms) == nil
    }
}

extension IdentityKey {
    /// The key of an item's fields.
    ///
    /// - Parameters:
    ///   - key: PKCS#8 in PEM.
    ///   - certificate: In PEM. Empty if there is none.
    /// - Returns: nil if the first is no key.
    package convenience init?(_ key: borrowing SecretBytes, certificate: borrowing SecretBytes) {
        guard let key = try? KeyFile(key).privateKey() else { return nil }
        let own = (try? Certificate.all(in: certificate)) ?? []
        self.init(key, own.count == 1 ? own[0] : nil)
    }
}

extension ItemBackend where Self: ~Copyable {
    /// The key of an identity.
    ///
    /// - Returns: nil if the identity's key cannot be read as a key.
    /// - Throws: ``VaultError/noItem(_:)`` if there is no such identity.
    package borrowing func identityKey(named name: String) throws(Problem) -> IdentityKey? {
        let identity = try clientIdentity(named: name)
        guard let text = try keyText(of: identity), let key = try? KeyFile(text).privateKey() else { return nil }
        return IdentityKey(key, identity.certificate)
    }
}
