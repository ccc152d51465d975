// PKCS#12, RFC 7292: keys with their certificates under one password. The reader is strict about DER and checks the MAC before
// it decrypts anything.

public import OMSecrets

/// A PKCS#12 file of which only the outermost part was read.
///
///     let contents = try PKCS12File(bytes).open(password: password)
///     for identity in contents.identities { print(identity.name) }
public struct PKCS12File: ~Copyable, Sendable {
    private let bytes: SecretBytes
    /// The authenticated safe within `bytes`.
    private let safe: Range<Int>
    fileprivate let mac: MACData

    struct MACData {
        let hash: DigestAlgorithm
        let tag: [UInt8]
        let salt: [UInt8]
        let iterations: Int
    }

    /// Whether the bytes look like a PKCS#12 file.
    public static func isPKCS12(_ bytes: borrowing SecretBytes) -> Bool {
        bytes.withBytes { DERForm.detect($0) == .pkcs12 }
    }

    /// - Throws: ``CryptoError/malformedKey(_:)``; ``CryptoError/unsupportedKey(_:)`` for a file that is signed instead of
    ///   sealed to a password, and for a file without a MAC or with an unknown one.
    public init(_ bytes: borrowing SecretBytes) throws(CryptoError) {
        guard (1...KeyFile.maximumCount).contains(bytes.count) else { throw .malformedKey(.pkcs12) }
        let (safe, mac) = try bytes.withBytes { (bytes) throws(CryptoError) in
            var top = DERCursor(0..<bytes.count, blame: .malformedKey(.pkcs12))
            var file = try top.enter(DERTag.sequence, bytes)
            try top.finish()
            guard try file.small(bytes) == 3 else { throw .malformedKey(.pkcs12) }
            var info = try file.enter(DERTag.sequence, bytes)
            guard try info.objectIdentifier(bytes) == OID.pkcs7Data else { throw .unsupportedKey(.pkcs12) }
            var holder = try info.enter(DERTag.context(0), bytes)
            try info.finish()
            let safe = try holder.element(DERTag.octetString, bytes)
            try holder.finish()
            guard !file.isAtEnd else { throw .unsupportedKey(.pkcs12) }
            let mac = try MACData(&file, bytes)
            try file.finish()
            return (safe, mac)
        }
        self.bytes = bytes.duplicate()
        self.safe = safe
        self.mac = mac
    }

    /// The rounds that checking the password costs.
    public var macIterations: Int { mac.iterations }

    /// The content of an authenticated safe. For the fuzzer, whose random bytes never pass a MAC.
    package static func contents(
        unauthenticated safe: [UInt8], password: borrowing SecretBytes, work: Int
    ) throws(CryptoError) -> PKCS12Contents {
        var reader = PKCS12Reader(sharedWork: work, limitOfEach: .standard, isBare: false)
        try reader.readAuthenticatedSafe(safe.span, 0..<safe.count, password)
        return reader.contents()
    }

    /// Opens the file.
    ///
    /// - Parameter limit: How much work all derivations of the file together may ask for.
    /// - Throws: ``CryptoError/wrongKeyPassword``, ``CryptoError/workTooHigh``, ``CryptoError/malformedKey(_:)``,
    ///   ``CryptoError/unsupportedKey(_:)``, ``CryptoError/invalidKey``.
    public func open(
        password: borrowing SecretBytes, limit: WorkLimit = .standard
    ) throws(CryptoError) -> PKCS12Contents {
        let work = mac.work(password)
        guard work <= limit.keyWork else { throw .workTooHigh }
        return try bytes.withBytes { (bytes) throws(CryptoError) in
            let isBare = try mac.isBare(bytes.extracting(safe), password)
            var reader = PKCS12Reader(sharedWork: limit.keyWork - work, limitOfEach: limit, isBare: isBare)
            try reader.readAuthenticatedSafe(bytes, safe, password)
            return reader.contents()
        }
    }
}

extension PKCS12File.MACData {
    init(_ file: inout DERCursor, _ bytes: Span<UInt8>) throws(CryptoError) {
        var data = try file.enter(DERTag.sequence, bytes)
        var info = try data.enter(DERTag.sequence, bytes)
        var algorithm = try info.enter(DERTag.sequence, bytes)
        let hashes: [[UInt8]: DigestAlgorithm] = [
            OID.sha1: .insecureSHA1, OID.sha224: .sha224, OID.sha256: .sha256, OID.sha384: .sha384, OID.sha512: .sha512,
        ]
        guard let hash = hashes[try algorithm.objectIdentifier(bytes)] else { throw .unsupportedKey(.pkcs12) }
        if !algorithm.isAtEnd { try algorithm.null(bytes) }
        try algorithm.finish()
        tag = bytes.bytes(try info.element(DERTag.octetString, bytes))
        try info.finish()
        let salt = try data.element(DERTag.octetString, bytes)
        guard tag.count == hash.count, (1...1024).contains(salt.count) else { throw data.blame }
        self.hash = hash
        self.salt = bytes.bytes(salt)
        iterations = data.isAtEnd ? 1 : try data.small(bytes)
        guard iterations > 0 else { throw data.blame }
        try data.finish()
    }

    /// The work of checking a password. For an empty password, the reader tries two encodings.
    func work(_ password: borrowing SecretBytes) -> Int {
        iterations * hash.roundWork * (password.count == 0 ? 2 : 1)
    }

    /// Checks the MAC. Some writers encode an empty password as no bytes, others as two zero bytes.
    ///
    /// - Returns: Whether this file's writer took no bytes.
    /// - Throws: ``CryptoError/wrongKeyPassword``.
    func isBare(_ safe: Span<UInt8>, _ password: borrowing SecretBytes) throws(CryptoError) -> Bool {
        for isBare in password.count == 0 ? [false, true] : [false] {
            let text = try PKCS12Password.text(password, isBare: isBare)
            let computed = try Self.compute(safe, password: text, salt: salt, iterations: iterations, hash: hash)
            if computed.withBytes({ ConstantTime.areEqual($0, tag.span) }) { return isBare }
        }
        throw .wrongKeyPassword
    }

    /// The tag of `safe`.
    ///
    /// - Parameter text: the password as ``PKCS12Password/text(_:)`` gives it.
    static func compute(
        _ safe: Span<UInt8>, password text: borrowing SecretBytes, salt: [UInt8], iterations: Int, hash: DigestAlgorithm
    ) throws(CryptoError) -> SecretBytes {
        let key = try PKCS12Password.derive(
            .macKey, from: text, salt: salt, iterations: iterations, hash: hash, count: hash.count)
        var mac = try HMAC(hash, key: key)
        mac.update(safe)
        return mac.finish()
    }
}
