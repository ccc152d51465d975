/// What was in a PKCS#12 file.
public struct PKCS12Contents: Sendable {
    /// The keys in the file's order, each with the certificates that belong to it.
    public let identities: [PKCS12Identity]
    /// All certificates in the file's order.
    public let certificates: [Certificate]
    /// How many bags of secrets other than keys were passed over.
    public let otherSecrets: Int

    /// What goes with one of the identities: its own certificate, then those that are no other identity's. Empty when it
    /// has none of its own.
    public func chain(of identity: PKCS12Identity) -> [Certificate] {
        guard let own = identity.certificate else { return [] }
        let others = Set(identities.compactMap(\.certificate))
        return [own] + certificates.filter { !others.contains($0) }
    }
}
