/// A private key and its certificate.
public final class PKCS12Identity: Sendable {
    /// The friendly name; empty when the file has none. Text from outside, to be escaped before it is shown.
    public let name: String
    public let key: PrivateKey
    /// The certificate of this very key; nil when the file has none.
    public let certificate: Certificate?

    init(name: String, key: consuming PrivateKey, certificate: Certificate?) {
        self.name = name
        self.key = key
        self.certificate = certificate
    }
}
