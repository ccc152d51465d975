// A key file. Its content shows its format, and it is parsed as far as possible without its password.

public import OMSecrets

/// The content of a key file. It decrypts nothing and makes no key before the caller asks for a key.
///
///     let file = try KeyFile(bytes)
///     let key = file.isEncrypted ? try file.privateKey(password: password) : try file.privateKey()
///
/// It reads PEM and DER of PKCS#8, encrypted PKCS#8, PKCS#1, SEC1 and SPKI, OpenSSL's old encrypted PEM, JWK, OpenSSH's
/// public and private keys, and age's recipients and identities. For PKCS#12, which holds more than a key, see ``PKCS12File``.
public struct KeyFile: ~Copyable, Sendable {
    /// The largest file that is read, in bytes.
    public static let maximumCount = 1 << 20

    public let format: KeyFormat
    /// Whether the file is PEM.
    public let isPEM: Bool
    /// The DER, or the text if the format is text.
    private let body: SecretBytes
    private let encryption: KeyEncryption?
    /// The range of the ciphertext in `body`.
    private let ciphertext: Range<Int>
    /// The format inside OpenSSL's old encryption.
    private let inner: KeyFormat?
    /// The base-2 logarithm of scrypt's N in an encrypted identity of age.
    private let ageLogCost: Int?

    /// - Throws: ``CryptoError/unknownKeyFormat``, ``CryptoError/malformedKey(_:)``,
    ///   ``CryptoError/unsupportedKey(_:)``, ``CryptoError/severalKeys``, ``CryptoError/certificateInsteadOfKey``.
    public init(_ bytes: borrowing SecretBytes) throws(CryptoError) {
        guard (1...Self.maximumCount).contains(bytes.count) else { throw .unknownKeyFormat }
        self = try bytes.withBytes { (bytes) throws(CryptoError) in try KeyFile(bytes) }
    }

    private init(_ bytes: Span<UInt8>) throws(CryptoError) {
        if AgeReader.isAge(bytes) {
            let age = try AgeIdentityFile(bytes)
            self.init(
                .encryptedAgeIdentity, SecretBytes(copying: bytes), isPEM: false, encryption: nil, ageLogCost: age.logCost)
        } else if let format = DERForm.detect(bytes) {
            // A certificate begins like a public key.
            guard format != .spki || (try? Certificate(der: bytes.bytes(bytes.indices))) == nil else {
                throw .certificateInsteadOfKey
            }
            try self.init(format, SecretBytes(copying: bytes), isPEM: false)
        } else if PEMBlock.isPEM(bytes) {
            let block = try PEMBlock(findingKeyIn: bytes)
            if let legacy = block.encryption {
                guard let inner = Self.formats[block.label], inner == .pkcs1 || inner == .sec1 else {
                    throw .malformedKey(.pem)
                }
                let count = block.body.count
                self.init(
                    .encryptedPEM, block.body.duplicate(), isPEM: true, encryption: try KeyEncryption(legacy),
                    ciphertext: 0..<count, inner: inner)
            } else {
                try self.init(pem: block)
            }
        } else if JWKReader.isJWK(bytes) {
            self.init(.jwk, SecretBytes(copying: bytes), isPEM: false, encryption: nil)
        } else if OpenSSHKey.isPublic(bytes) {
            self.init(.openSSHPublic, SecretBytes(copying: bytes), isPEM: false, encryption: nil)
        } else if AgeText.isIdentities(bytes) {
            self.init(.ageIdentity, SecretBytes(copying: bytes), isPEM: false, encryption: nil)
        } else if AgeText.isOwnRecipients(bytes) {
            self.init(.ageRecipient, SecretBytes(copying: bytes), isPEM: false, encryption: nil)
        } else {
            throw .unknownKeyFormat
        }
    }

    /// The labels of RFC 7468 and of OpenSSL's older files.
    private static let formats: [String: KeyFormat] = [
        "PRIVATE KEY": .pkcs8, "ENCRYPTED PRIVATE KEY": .encryptedPKCS8, "PUBLIC KEY": .spki,
        "RSA PRIVATE KEY": .pkcs1, "RSA PUBLIC KEY": .pkcs1, "EC PRIVATE KEY": .sec1,
        "OPENSSH PRIVATE KEY": .openSSHPrivate,
    ]

    private init(pem block: borrowing PEMBlock) throws(CryptoError) {
        guard let format = Self.formats[block.label] else { throw .unsupportedKey(.pem) }
        if format == .openSSHPrivate {
            self.init(format, block.body.duplicate(), isPEM: true, encryption: nil)
            return
        }
        // The label must match the content: a private key under PUBLIC KEY would be treated as public.
        let found = block.body.withBytes { DERForm.detect($0) }
        let isPrivate = block.label.hasSuffix("PRIVATE KEY")
        guard found == format else { throw .malformedKey(format) }
        if format == .pkcs1 {
            guard block.body.withBytes({ DERForm.isPrivate($0, format) }) == isPrivate else {
                throw .malformedKey(format)
            }
        }
        try self.init(format, block.body.duplicate(), isPEM: true)
    }

    /// DER in one of its forms.
    private init(_ format: KeyFormat, _ body: consuming SecretBytes, isPEM: Bool) throws(CryptoError) {
        guard format == .encryptedPKCS8 else {
            self.init(format, body, isPEM: isPEM, encryption: nil)
            return
        }
        let (encryption, ciphertext) = try body.withBytes { (bytes) throws(CryptoError) in
            var top = DERCursor(0..<bytes.count, blame: .malformedKey(.encryptedPKCS8))
            var info = try top.enter(DERTag.sequence, bytes)
            try top.finish()
            let encryption = try KeyEncryption(&info, bytes)
            let ciphertext = try info.element(DERTag.octetString, bytes)
            try info.finish()
            return (encryption, ciphertext)
        }
        self.init(format, body, isPEM: isPEM, encryption: encryption, ciphertext: ciphertext)
    }

    private init(
        _ format: KeyFormat, _ body: consuming SecretBytes, isPEM: Bool, encryption: KeyEncryption?,
        ciphertext: Range<Int> = 0..<0, inner: KeyFormat? = nil, ageLogCost: Int? = nil
    ) {
        self.format = format
        self.isPEM = isPEM
        self.body = body
        self.encryption = encryption
        self.ciphertext = ciphertext
        self.inner = inner
        self.ageLogCost = ageLogCost
    }

    // MARK: Properties

    /// Whether a password is needed.
    public var isEncrypted: Bool {
        encryption != nil || ageLogCost != nil || format == .openSSHPrivate && body.withBytes { OpenSSHKey.isEncrypted($0) }
    }

    /// The encryption, such as `PBKDF2-SHA-256, AES-256-CBC`. Nil if the file is not encrypted, or does not name it.
    public var encryptionName: String? {
        if ageLogCost != nil { return "scrypt, ChaCha20-Poly1305" }
        return encryption?.name ?? openSSHEncryption?.name
    }

    private var openSSHEncryption: OpenSSHEncryption? {
        format == .openSSHPrivate ? body.withBytes { OpenSSHKey.encryption($0) } : nil
    }

    /// The rounds that the file names, for scrypt N · r · p. Nil without encryption.
    public var encryptionWork: Int? {
        if let ageLogCost { return ageLogCost < 40 ? 8 << ageLogCost : .max }
        return encryption?.rounds ?? openSSHEncryption?.rounds
    }

    /// Whether the file holds a private key.
    public var isPrivate: Bool {
        switch format {
        case .pkcs8, .encryptedPKCS8, .sec1, .encryptedPEM, .openSSHPrivate, .pkcs12, .ageIdentity, .encryptedAgeIdentity:
            true
        case .spki, .openSSHPublic, .pem, .ageRecipient: false
        case .pkcs1: body.withBytes { DERForm.isPrivate($0, .pkcs1) }
        case .jwk: body.withBytes { (try? JWKReader($0))?.isPrivate ?? false }
        }
    }

    // MARK: The keys

    /// - Throws: ``CryptoError/keyPasswordRequired``, ``CryptoError/noPrivateKey``, ``CryptoError/malformedKey(_:)``,
    ///   ``CryptoError/unsupportedKey(_:)``, ``CryptoError/invalidKey``.
    public func privateKey() throws(CryptoError) -> PrivateKey {
        guard !isEncrypted || format == .openSSHPrivate else { throw .keyPasswordRequired }
        return try body.withBytes { (bytes) throws(CryptoError) in try DERForm.privateKey(bytes, format) }
    }

    /// - Parameter limit: How much work the file may ask for.
    /// - Throws: As ``privateKey()``, and ``CryptoError/workTooHigh``, ``CryptoError/wrongKeyPassword``. A file that is not
    ///   encrypted also gives ``CryptoError/wrongKeyPassword``: otherwise a swapped file would go unnoticed.
    public func privateKey(
        password: borrowing SecretBytes, limit: WorkLimit = .standard
    ) throws(CryptoError) -> PrivateKey {
        guard ageLogCost == nil else {
            return try body.withBytes { (bytes) throws(CryptoError) in
                try AgeIdentityFile(bytes).privateKey(password, limit)
            }
        }
        guard format != .openSSHPrivate else {
            return try body.withBytes { (bytes) throws(CryptoError) in
                try OpenSSHKey.privateKey(bytes, password: password, limit: limit)
            }
        }
        guard let encryption else { throw .wrongKeyPassword }
        let opened = try body.withBytes { (bytes) throws(CryptoError) in
            try encryption.open(bytes.extracting(ciphertext), password: password, limit: limit)
        }
        do throws(CryptoError) {
            return try opened.withBytes { (bytes) throws(CryptoError) in
                try DERForm.privateKey(bytes, inner ?? .pkcs8)
            }
        } catch {
            // One wrong password in 256 leaves a padding that looks right.
            if case .unsupportedKey = error { throw error }
            throw .wrongKeyPassword
        }
    }

    /// The private keys for age files: all that an encrypted file of identities holds. Another file has one.
    ///
    /// - Throws: As ``privateKey(password:limit:)`` and ``AgeIdentity/list(in:skipsUnknown:)``.
    public func ageIdentities(
        password: borrowing SecretBytes, limit: WorkLimit = .standard
    ) throws(CryptoError) -> [AgeIdentity] {
        guard ageLogCost != nil else { return [try AgeIdentity(privateKey(password: password, limit: limit))] }
        let list = try body.withBytes { (bytes) throws(CryptoError) in try AgeIdentityFile(bytes).list(password, limit) }
        return try AgeIdentity.list(in: list, skipsUnknown: true)
    }

    /// The public key, or the public half of an unencrypted private key.
    ///
    /// - Throws: As ``privateKey()``.
    public func publicKey() throws(CryptoError) -> PublicKey {
        guard !isPrivate else { return try privateKey().publicKey() }
        return try body.withBytes { (bytes) throws(CryptoError) in try DERForm.publicKey(bytes, format) }
    }
}
