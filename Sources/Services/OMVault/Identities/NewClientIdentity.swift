// Identities on their way into a vault. They are read and checked before a vault is open, because the bytes of the file are
// foreign.

public import OMCrypto
public import OMItems
internal import OMSecrets

/// Certificates that are parsed and described before a vault is open. After that only their public keys are compared.
package struct CertificateDescriptions: Sendable {
    fileprivate let all: [(certificate: Certificate, description: Result<CertificateDescription, CryptoError>)]

    /// Only the certificate of the key needs a description. Those of its chain need a subject.
    ///
    /// - Throws: ``CryptoError/noCertificate`` for no certificate; ``CryptoError/malformedKey(_:)`` for one without a subject; if
    ///   none can be described, the error of the first one.
    package init(_ certificates: [Certificate]) throws(CryptoError) {
        all = certificates.map { certificate in
            (certificate, Result { () throws(CryptoError) in try certificate.description() })
        }
        guard let first = all.first else { throw .noCertificate }
        guard certificates.allSatisfy({ $0.subject != nil }) else { throw .malformedKey(.pem) }
        if !all.contains(where: { (try? $0.description.get()) != nil }) { _ = try first.description.get() }
    }
}

/// A private key with its certificate and its chain, which belong together.
///
///     let new = try NewClientIdentity.all(in: PKCS12File(bytes).open(password: password))   // before the vault is unlocked
///     let stored = try vault.importIdentities(new)
public final class NewClientIdentity: Sendable {
    /// The name in the vault. If the file suggests it, it is untrusted text: escape it before you show it.
    public let name: String
    public let certificate: Certificate
    public let chain: [Certificate]
    /// What the certificate says.
    public let description: CertificateDescription
    /// Whether the caller chose the name. Otherwise an identity of another name is the same one.
    let isNamed: Bool
    /// The fields of the item.
    let keyText: SecretBytes
    let certificateText: SecretBytes
    let chainText: SecretBytes

    /// - Parameters:
    ///   - certificates: In any order. The one of the key is found by its public key, and the others are its chain.
    ///   - name: Nil for the common name of the certificate.
    /// - Throws: ``CryptoError/noCertificate`` for no certificate; ``CryptoError/foreignCertificate`` if none belongs to the
    ///   key; ``CryptoError/severalCertificates`` if more than one does; ``CryptoError/malformedKey(_:)``.
    public convenience init(
        _ key: borrowing PrivateKey, certificates: [Certificate], name: String? = nil
    ) throws(CryptoError) {
        try self.init(key, try CertificateDescriptions(certificates), names: [name], not: [])
    }

    /// For a key that comes out of a vault.
    ///
    /// - Throws: As ``init(_:certificates:name:)``.
    package convenience init(
        _ key: borrowing PrivateKey, _ certificates: CertificateDescriptions, name: String?
    ) throws(CryptoError) {
        try self.init(key, certificates, names: [name], not: [])
    }

    private init(
        _ key: borrowing PrivateKey, _ certificates: CertificateDescriptions, names: [String?], not used: Set<String>
    ) throws(CryptoError) {
        let spki = try key.publicKey().spki()
        let own = certificates.all.filter { $0.certificate.spki == spki }
        guard let (certificate, described) = own.first else { throw .foreignCertificate }
        // Attack: a file has two certificates for one key. The user reads one of them, and a server gets the other one.
        guard own.count == 1 else { throw .severalCertificates }
        let description = try described.get()
        let chain = certificates.all.map(\.certificate).filter { $0.spki != spki }
        let digits = Hex.encode(Array(description.fingerprint.prefix(8)))
        let suggested = (names + [description.commonName]).lazy.compactMap { $0 }.first { Self.canBeName($0) } ?? digits
        name = used.contains(suggested) ? digits : suggested
        isNamed = false
        (self.certificate, self.chain, self.description) = (certificate, chain, description)
        keyText = KeyText.pem(unencryptedPKCS8: try key.unencryptedPKCS8())
        certificateText = Self.pem([certificate])
        chainText = Self.pem(chain)
    }

    private init(_ other: NewClientIdentity, named name: String) {
        (self.name, isNamed) = (name, true)
        (certificate, chain, description) = (other.certificate, other.chain, other.description)
        keyText = other.keyText.duplicate()
        certificateText = other.certificateText.duplicate()
        chainText = other.chainText.duplicate()
    }

    /// The same identity under a name that the user chose.
    ///
    /// - Throws: ``VaultError/invalidItemName``.
    public func named(_ name: String) throws(VaultError) -> NewClientIdentity {
        _ = try ClientIdentity.itemName(name)
        return NewClientIdentity(self, named: name)
    }

    /// The identities of a file. Each key has its own certificate, and the certificates of no key are the chain of each.
    ///
    /// - Throws: ``CryptoError/noPrivateKey`` for a file without a key; ``CryptoError/severalKeys`` for one key twice;
    ///   otherwise as ``init(_:certificates:name:)``. One bad identity refuses the file.
    public static func all(in contents: PKCS12Contents) throws(CryptoError) -> [NewClientIdentity] {
        guard !contents.identities.isEmpty else { throw .noPrivateKey }
        var keys: [[UInt8]] = []
        for identity in contents.identities { keys.append(try identity.key.publicKey().spki()) }
        guard Set(keys).count == keys.count else { throw .severalKeys }
        var (found, used): ([NewClientIdentity], Set<String>) = ([], [])
        for (identity, key) in zip(contents.identities, keys) {
            let certificates = contents.certificates.filter { $0.spki == key || !keys.contains($0.spki) }
            let described = try CertificateDescriptions(certificates)
            let new = try NewClientIdentity(identity.key, described, names: [identity.name], not: used)
            used.insert(new.name)
            found.append(new)
        }
        return found
    }

    /// A name with a colon would need quotes in each reference.
    private static func canBeName(_ name: String) -> Bool {
        (try? ClientIdentity.itemName(name)) != nil && !name.utf8.contains(UInt8(ascii: ":"))
    }

    private static func pem(_ certificates: [Certificate]) -> SecretBytes {
        SecretBytes(copying: Array(certificates.map { KeyText.pem(certificate: $0.der) }.joined().utf8))
    }

    // MARK: As an item

    /// The whole item, or its certificate and chain alone.
    func change(withKey: Bool) throws(VaultError) -> ItemChange {
        var change = ItemChange()
        if withKey { try change.set.put(keyText.duplicate(), at: ClientIdentity.Field.key.name) }
        try change.set.put(certificateText.duplicate(), at: ClientIdentity.Field.certificate.name)
        if !chain.isEmpty { try change.set.put(chainText.duplicate(), at: ClientIdentity.Field.chain.name) }
        change.type = .becomes(.certificate)
        if description.notAfter > 0 { change.expires = .becomes(description.notAfter) }
        return change
    }
}
