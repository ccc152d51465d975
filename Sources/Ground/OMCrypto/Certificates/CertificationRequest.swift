// A request for a certificate: PKCS#10, RFC 2986, made by OpenSSL. The key signs it and goes nowhere.

internal import COpenSSL
internal import OMSecrets

/// A certification request in DER.
///
///     let request = try certificationRequest(key, subject: DistinguishedName("CN=ada"), names: [])
///
/// - Parameter names: The alternative names that the certificate should have.
/// - Throws: ``CryptoError/wrongKeyType`` for a key that does not sign; ``CryptoError/keyUseNotAllowed`` for a JWK;
///   ``CryptoError/invalidName`` for a value that its attribute cannot have, such as a country of three letters.
public func certificationRequest(
    _ key: borrowing PrivateKey, subject: DistinguishedName, names: [SubjectName]
) throws(CryptoError) -> [UInt8] {
    guard key.kind.signs else { throw .wrongKeyType }
    try key.uses.require(.sign)
    let request = try CertificationRequest()
    try request.set(subject)
    try request.set(names)
    return try request.signed(by: key)
}

/// One `X509_REQ`.
///
/// Not private: a release build inlines its `deinit` into other modules, which then cannot link.
struct CertificationRequest: ~Copyable {
    private let pointer: OpaquePointer

    init() throws(CryptoError) {
        guard let made = X509_REQ_new() else { throw .clearing(.cannotSign) }
        // A new request has version 0 already, the only one there is.
        pointer = made
    }

    deinit { X509_REQ_free(pointer) }

    /// OpenSSL checks the length of each value, and chooses its string type.
    fileprivate func set(_ subject: DistinguishedName) throws(CryptoError) {
        guard let name = X509_NAME_new() else { throw .clearing(.cannotSign) }
        defer { X509_NAME_free(name) }
        for attribute in subject.attributes.reversed() {
            let value = Array(attribute.value.utf8)
            let isAdded = X509_NAME_add_entry_by_txt(
                name, attribute.type.rawValue, om_text_utf8(), value, Int32(value.count), -1, 0)
            guard isAdded == 1 else { throw .clearing(.invalidName) }
        }
        guard X509_REQ_set_subject_name(pointer, name) == 1 else { throw .clearing(.cannotSign) }
    }

    /// The extension is written here, not by OpenSSL's reader of configuration files. Attack: a name has a comma and another
    /// name behind it, and that reader takes both.
    fileprivate func set(_ names: [SubjectName]) throws(CryptoError) {
        guard !names.isEmpty else { return }
        let der = SubjectName.der(names)
        guard om_request_set_names(pointer, der, Int32(der.count)) == 1 else { throw .clearing(.cannotSign) }
    }

    fileprivate func signed(by key: borrowing PrivateKey) throws(CryptoError) -> [UInt8] {
        let digest: OpaquePointer? =
            switch key.kind {
            case .rsa, .ec(.p256): EVP_sha256()
            case .ec(.p384): EVP_sha384()
            case .ec(.p521): EVP_sha512()
            case .ed25519, .x25519: nil
            }
        guard X509_REQ_set_pubkey(pointer, key.handle.pointer) == 1,
            X509_REQ_sign(pointer, key.handle.pointer, digest) > 0
        else { throw .clearing(.cannotSign) }
        var start: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509_REQ(pointer, &start)
        guard count > 0, let start else { throw .clearing(.cannotSign) }
        defer { om_free_bytes(start) }
        return Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }
}
