internal import OMCrypto
internal import OMSecrets
internal import OMShell

/// How to open a key file: the source of its password, and the limit of its work.
struct KeyFileOpening {
    let passwordOption: String
    let limit: WorkLimit
    /// The name or number of the key in a PKCS#12 file. Nil if the file has only one.
    var identity: String?

    /// The private key in the bytes of a file, also of PKCS#12. The password is read only if the file is encrypted.
    func privateKey(_ bytes: borrowing SecretBytes, _ secrets: borrowing SecretSources) throws -> PrivateKey {
        if PKCS12File.isPKCS12(bytes) { return try identity(in: contents(bytes, secrets)).key.duplicate() }
        let file = try keyFile(bytes)
        guard file.isEncrypted, file.encryptionName != nil else { return try file.privateKey() }
        return try file.privateKey(password: password(secrets), limit: limit)
    }

    /// The private keys for age files: a list of identities, encrypted or not, or the one key of another file.
    func ageIdentities(
        _ bytes: borrowing SecretBytes, _ secrets: borrowing SecretSources
    ) throws -> [AgeIdentity] {
        if AgeIdentity.isList(bytes) { return try AgeIdentity.list(in: bytes, skipsUnknown: true) }
        if !PKCS12File.isPKCS12(bytes) {
            let file = try keyFile(bytes)
            if file.format == .encryptedAgeIdentity {
                return try file.ageIdentities(password: password(secrets), limit: limit)
            }
        }
        return [try AgeIdentity(privateKey(bytes, secrets))]
    }

    /// The public key in the bytes of a file, or the public half of its private key.
    func publicKey(_ bytes: borrowing SecretBytes, _ secrets: borrowing SecretSources) throws -> PublicKey {
        if PKCS12File.isPKCS12(bytes) { return try identity(in: contents(bytes, secrets)).key.publicKey() }
        let file = try keyFile(bytes)
        return file.isPrivate ? try privateKey(bytes, secrets).publicKey() : try file.publicKey()
    }

    /// The chosen key of a PKCS#12 file.
    func identity(in contents: PKCS12Contents) throws -> PKCS12Identity {
        let found = contents.identities
        guard !found.isEmpty else { throw CryptoError.noPrivateKey }
        guard let identity else {
            if found.count == 1 { return found[0] }
            throw Failure(.ambiguous, "the file holds \(found.count) keys", hint: Self.identityHint)
        }
        let named = found.filter { $0.name == identity }
        if named.count == 1 { return named[0] }
        if named.isEmpty, let number = Int(identity), (1...found.count).contains(number) { return found[number - 1] }
        throw named.isEmpty
            ? Failure(.notFound, "no key in the file is called \"\(identity)\"", hint: Self.identityHint)
            : Failure(.ambiguous, "\(named.count) keys are called \"\(identity)\"", hint: Self.identityHint)
    }

    private static let identityHint = "choose one with --identity NAME or NUMBER; omvault crypto inspect lists them"

    private func keyFile(_ bytes: borrowing SecretBytes) throws -> KeyFile {
        guard identity == nil else { throw Failure(usage: "--identity is for PKCS#12 files, and this is not one") }
        return try KeyFile(bytes)
    }

    func contents(_ bytes: borrowing SecretBytes, _ secrets: borrowing SecretSources) throws -> PKCS12Contents {
        try PKCS12File(bytes).open(password: password(secrets), limit: limit)
    }

    private func password(_ secrets: borrowing SecretSources) throws -> SecretBytes {
        try secrets.read(passwordOption, prompt: "Password of the key file")
    }
}
