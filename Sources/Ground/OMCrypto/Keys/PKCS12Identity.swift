/// A private key and its certificate.
public final class PKCS12Identity: Sendable {
    /// The friendly name, empty if the file has none. It is untrusted text: escape it before you show it.
    public let name: String
    public let key: PrivateKey
    /// The certificate of this key. Nil if the file has none.
    public let certificate: Certificate?

    init(name: String, key: consuming PrivateKey, certificate: Certificate?) {
        self.name = name
        self.key = key
        self.certificate = certificate
    }
}
