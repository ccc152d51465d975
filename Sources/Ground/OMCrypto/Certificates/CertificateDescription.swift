// What a certificate says about itself, for people and for the choice of an identity. Nothing here is trusted: this code checks
// no chain and no signature.

internal import COpenSSL
internal import Glibc
internal import OMSecrets

/// The content of a certificate. Its texts are untrusted: escape them before you show them.
///
///     let description = try certificate.description()
///     print(description.subject, description.isValid(at: now))
public struct CertificateDescription: Hashable, Sendable {
    /// The subject's name in RFC 2253's form.
    public let subject: String
    /// The common name in it, if it has exactly one.
    public let commonName: String?
    public let issuer: String
    /// The serial number in hexadecimal digits.
    public let serial: String
    /// Seconds since 1970.
    public let notBefore: Int64
    public let notAfter: Int64
    /// The alternative names of the subject that ``SubjectName`` knows. Others are left out.
    public let names: [SubjectName]
    /// Whether it is the certificate of an authority.
    public let isAuthority: Bool
    /// Whether its extended key usage, if it has one, allows the authentication of clients.
    public let isForClients: Bool
    public let keyKind: KeyKind
    /// SHA-256 of the certificate.
    public let fingerprint: [UInt8]

    /// - Parameter time: Seconds since 1970.
    public func isValid(at time: Int64) -> Bool { (notBefore...max(notBefore, notAfter)).contains(time) }
}

extension Certificate {
    /// - Throws: ``CryptoError/malformedKey(_:)`` if OpenSSL cannot read the certificate, or if its times or names are
    ///   malformed; the errors of its public key.
    public func description() throws(CryptoError) -> CertificateDescription {
        let certificate = try OpenSSLCertificate(self)
        let key = try KeyFile(SecretBytes(copying: spki)).publicKey()
        let flags = X509_get_extension_flags(certificate.pointer)
        guard flags & UInt32(EXFLAG_INVALID) == 0 else { throw .clearing(.malformedKey(.pem)) }
        let uses = X509_get_extended_key_usage(certificate.pointer)
        ERR_clear_error()
        return CertificateDescription(
            subject: try certificate.text(of: X509_get_subject_name(certificate.pointer)),
            commonName: certificate.commonName(), issuer: try certificate.text(of: X509_get_issuer_name(certificate.pointer)),
            serial: try certificate.serial(),
            notBefore: try certificate.seconds(X509_get0_notBefore(certificate.pointer)),
            notAfter: try certificate.seconds(X509_get0_notAfter(certificate.pointer)), names: try certificate.names(),
            isAuthority: flags & UInt32(EXFLAG_CA) != 0,
            isForClients: flags & UInt32(EXFLAG_XKUSAGE) == 0 || uses & UInt32(XKU_SSL_CLIENT) != 0, keyKind: key.kind,
            fingerprint: try fingerprint())
    }
}

/// One `X509`.
///
/// Not private: a release build inlines its `deinit` into other modules, which then cannot link.
struct OpenSSLCertificate: ~Copyable {
    let pointer: OpaquePointer

    init(_ certificate: Certificate) throws(CryptoError) {
        var position: UnsafePointer<UInt8>?
        let (read, isWhole) = certificate.der.withUnsafeBufferPointer { bytes in
            position = bytes.baseAddress
            let read = d2i_X509(nil, &position, bytes.count)
            return (read, position == bytes.baseAddress.map { $0 + bytes.count })
        }
        guard let read else { throw .clearing(.malformedKey(.pem)) }
        guard isWhole else {
            X509_free(read)
            throw .malformedKey(.pem)
        }
        pointer = read
    }

    deinit { X509_free(pointer) }

    func text(of name: OpaquePointer?) throws(CryptoError) -> String {
        guard let text = BIO_new(BIO_s_mem()) else { throw .clearing(.malformedKey(.pem)) }
        defer { BIO_free(text) }
        guard let name, X509_NAME_print_ex(text, name, 0, om_name_flags()) >= 0 else {
            throw .clearing(.malformedKey(.pem))
        }
        var start: UnsafeMutablePointer<CChar>?
        let count = Int(om_bio_text(text, &start))
        guard let start, count > 0 else { return "" }
        return start.withMemoryRebound(to: UInt8.self, capacity: count) {
            String(decoding: UnsafeBufferPointer(start: $0, count: count), as: UTF8.self)
        }
    }

    fileprivate func commonName() -> String? {
        let name = X509_get_subject_name(pointer)
        let position = X509_NAME_get_index_by_NID(name, NID_commonName, -1)
        guard position >= 0, X509_NAME_get_index_by_NID(name, NID_commonName, position) < 0 else { return nil }
        var text: UnsafeMutablePointer<UInt8>?
        let count = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, position)))
        guard count >= 0, let text else {
            ERR_clear_error()
            return nil
        }
        defer { om_free_bytes(text) }
        return String(validating: UnsafeBufferPointer(start: text, count: Int(count)), as: UTF8.self)
    }

    fileprivate func serial() throws(CryptoError) -> String {
        guard let number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(pointer), nil) else {
            throw .clearing(.malformedKey(.pem))
        }
        defer { BN_free(number) }
        guard let text = BN_bn2hex(number) else { throw .clearing(.malformedKey(.pem)) }
        defer { om_free_text(text) }
        return String(cString: text).lowercased()
    }

    fileprivate func seconds(_ time: UnsafePointer<ASN1_TIME>?) throws(CryptoError) -> Int64 {
        var parts = tm()
        guard let time, ASN1_TIME_to_tm(time, &parts) == 1 else { throw .clearing(.malformedKey(.pem)) }
        return Int64(timegm(&parts))
    }

    /// The extension is DER inside the certificate. It is read as strictly as a key.
    fileprivate func names() throws(CryptoError) -> [SubjectName] {
        let position = X509_get_ext_by_NID(pointer, NID_subject_alt_name, -1)
        guard position >= 0 else { return [] }
        guard let value = X509_EXTENSION_get_data(X509_get_ext(pointer, position)),
            let start = ASN1_STRING_get0_data(value)
        else { throw .clearing(.malformedKey(.pem)) }
        let bytes = Array(UnsafeBufferPointer(start: start, count: Int(ASN1_STRING_length(value))))
        return try SubjectName.all(in: bytes.span)
    }
}
