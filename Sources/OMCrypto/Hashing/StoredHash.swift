// Reads what SaltedHash and its relatives write: the iOS and the Android SDK, and LDAP's userPassword (RFC 2307 and
// OpenLDAP's pw-sha2). All of them are `{name}` + base64(H(data ‖ salt) ‖ salt); they differ in names and salts only.

public import OMSecrets

/// A stored hash, parsed; it says yes or no to data.
public struct StoredHash: Hashable, Sendable {
    public let algorithm: DigestAlgorithm
    public let digest: [UInt8]
    /// The bytes that follow the data into the hash; empty in the unsalted forms.
    public let salt: [UInt8]

    /// - Throws: ``CryptoError/notPrefixed``, ``CryptoError/unknownAlgorithm`` for a name of no known form,
    ///   ``CryptoError/malformedHash`` for base64 that is not canonical, a digest too short, a salt too many or none
    ///   where the name asks for one.
    public init(parsing text: String) throws(CryptoError) {
        guard text.utf8.first == UInt8(ascii: "{"), let brace = text.utf8.firstIndex(of: UInt8(ascii: "}")) else {
            throw .notPrefixed
        }
        let name = text[text.utf8.index(after: text.startIndex)..<brace]
        guard let form = Self.forms[name.lowercased()] else { throw .unknownAlgorithm }
        let body: [UInt8]
        do { body = try Base64.decode(String(text[text.utf8.index(after: brace)...])) } catch { throw .malformedHash }
        guard body.count >= form.algorithm.count, (body.count > form.algorithm.count) == form.isSalted else {
            throw .malformedHash
        }
        algorithm = form.algorithm
        digest = Array(body.prefix(form.algorithm.count))
        salt = Array(body.dropFirst(form.algorithm.count))
    }

    /// Whether the hash is of `data`, compared in constant time.
    ///
    /// - Throws: ``CryptoError/unknownAlgorithm`` when this machine's OpenSSL is set up without the algorithm.
    public func matches(_ data: borrowing SecretBytes) throws(CryptoError) -> Bool {
        var hash = try Digest(algorithm)
        hash.update(data)
        hash.update(salt.span)
        return hash.finishSecret().withBytes { ConstantTime.areEqual($0, digest.span) }
    }

    private struct Form {
        let algorithm: DigestAlgorithm
        let isSalted: Bool
    }

    /// Every name in lower case: SDK and LDAP, where `{SHA}` is SHA-1.
    private static let forms: [String: Form] = {
        var forms: [String: Form] = [:]
        for algorithm in DigestAlgorithm.allCases {
            let ldap = algorithm == .insecureSHA1 ? "sha" : algorithm.name
            for name in [algorithm.sdkName.lowercased(), ldap] {
                forms[name] = Form(algorithm: algorithm, isSalted: false)
            }
            for name in ["salted" + algorithm.sdkName.lowercased(), "s" + ldap] {
                forms[name] = Form(algorithm: algorithm, isSalted: true)
            }
        }
        return forms
    }()
}
