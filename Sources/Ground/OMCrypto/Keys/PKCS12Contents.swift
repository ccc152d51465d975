/// The content of a PKCS#12 file.
public struct PKCS12Contents: Sendable {
    /// The keys in the file's order, each with the certificates that belong to it.
    public let identities: [PKCS12Identity]
    /// All certificates in the file's order.
    public let certificates: [Certificate]
    /// The number of ignored bags, which hold secrets other than keys.
    public let otherSecrets: Int

    /// The certificates of an identity: its own, then those that belong to no identity. Empty if it has none of its own.
    public func chain(of identity: PKCS12Identity) -> [Certificate] {
        guard let own = identity.certificate else { return [] }
        let others = Set(identities.compactMap(\.certificate))
        return [own] + certificates.filter { !others.contains($0) }
    }
}
