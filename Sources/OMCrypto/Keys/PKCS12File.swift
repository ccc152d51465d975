// PKCS#12, RFC 7292: keys with their certificates under one password. Read strictly as DER; the MAC is checked before
// anything is decrypted.

public import OMSecrets

/// A PKCS#12 file, its outermost part read.
///
///     let contents = try PKCS12File(bytes).open(password: password)
///     for identity in contents.identities { print(identity.name) }
public struct PKCS12File: ~Copyable, Sendable {
    private let bytes: SecretBytes
    /// The authenticated safe within `bytes`.
    private let safe: Range<Int>
    fileprivate let mac: MACData

    fileprivate struct MACData {
        let hash: DigestAlgorithm
        let tag: [UInt8]
        let salt: [UInt8]
        let iterations: Int
    }

    /// Whether the bytes look like one.
    public static func isPKCS12(_ bytes: borrowing SecretBytes) -> Bool {
        bytes.withBytes { DERForm.detect($0) == .pkcs12 }
    }

    /// - Throws: ``CryptoError/malformedKey(_:)``; ``CryptoError/unsupportedKey(_:)`` for a file signed instead of sealed
    ///   to a password, without a MAC, or with one that is not offered.
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

    /// What an authenticated safe holds, for the fuzzer: noise never gets past a MAC.
    package static func contents(
        unauthenticated safe: [UInt8], password: borrowing SecretBytes, work: Int
    ) throws(CryptoError) -> PKCS12Contents {
        var reader = PKCS12Reader(workLeft: work, isBare: false)
        try reader.readSafe(safe.span, 0..<safe.count, password)
        return reader.finish()
    }

    /// Opens the file.
    ///
    /// - Parameter limit: how many rounds all its derivations together may ask for.
    /// - Throws: ``CryptoError/wrongKeyPassword``, ``CryptoError/workTooHigh``, ``CryptoError/malformedKey(_:)``,
    ///   ``CryptoError/unsupportedKey(_:)``, ``CryptoError/invalidKey``.
    public func open(
        password: borrowing SecretBytes, limit: WorkLimit = .standard
    ) throws(CryptoError) -> PKCS12Contents {
        guard mac.iterations <= limit.keyWork else { throw .workTooHigh }
        return try bytes.withBytes { (bytes) throws(CryptoError) in
            let isBare = try mac.isBare(bytes.extracting(safe), password)
            var reader = PKCS12Reader(workLeft: limit.keyWork - mac.iterations, isBare: isBare)
            try reader.readSafe(bytes, safe, password)
            return reader.finish()
        }
    }
}

/// What was in a PKCS#12 file.
public struct PKCS12Contents: Sendable {
    /// The keys in the file's order, each with the certificates that belong to it.
    public let identities: [PKCS12Identity]
    /// All certificates in the file's order.
    public let certificates: [Certificate]
}

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

    /// Checks the MAC. No password is no bytes to some writers, two zero bytes to others: this tells which.
    ///
    /// - Throws: ``CryptoError/wrongKeyPassword``.
    func isBare(_ safe: Span<UInt8>, _ password: borrowing SecretBytes) throws(CryptoError) -> Bool {
        for isBare in password.count == 0 ? [false, true] : [false] {
            let text = try PKCS12Password.text(password, isBare: isBare)
            let computed = try Self.compute(safe, text, salt, iterations, hash)
            if computed.withBytes({ ConstantTime.areEqual($0, tag.span) }) { return isBare }
        }
        throw .wrongKeyPassword
    }

    /// - Parameter text: the password as ``PKCS12Password/text(_:)`` gives it.
    static func compute(
        _ safe: Span<UInt8>, _ text: borrowing SecretBytes, _ salt: [UInt8], _ iterations: Int, _ hash: DigestAlgorithm
    ) throws(CryptoError) -> SecretBytes {
        let key = try PKCS12Password.derive(text, salt, 3, iterations, hash, hash.count)
        var mac = try HMAC(hash, key: key)
        mac.update(safe)
        return mac.finish()
    }
}

// MARK: - Reading

/// The bags of a file as they are found.
private struct PKCS12Reader {
    private struct FoundKey {
        let key: HeldKey
        let attributes: BagAttributes
    }

    /// A key on its way into its identity: a list holds only what can be copied.
    private final class HeldKey {
        private var key: PrivateKey?
        init(_ key: consuming PrivateKey) { self.key = consume key }
        func take() -> PrivateKey? { key.take() }
    }

    private static let mostParts = 64
    private var workLeft: Int
    private let isBare: Bool
    private var parts = 0
    private var keys: [FoundKey] = []
    private var certificates: [(Certificate, BagAttributes)] = []

    init(workLeft: Int, isBare: Bool) { (self.workLeft, self.isBare) = (workLeft, isBare) }

    mutating func readSafe(
        _ bytes: Span<UInt8>, _ range: Range<Int>, _ password: borrowing SecretBytes
    ) throws(CryptoError) {
        var top = DERCursor(range, blame: .malformedKey(.pkcs12))
        var infos = try top.enter(DERTag.sequence, bytes)
        try top.finish()
        while !infos.isAtEnd {
            try countPart()
            var info = try infos.enter(DERTag.sequence, bytes)
            let type = try info.objectIdentifier(bytes)
            var holder = try info.enter(DERTag.context(0), bytes)
            try info.finish()
            switch type {
            case OID.pkcs7Data:
                try readBags(bytes, try holder.element(DERTag.octetString, bytes), password)
            case OID.pkcs7Encrypted:
                let content = try decrypt(&holder, bytes, password)
                try content.withBytes { (content) throws(CryptoError) in
                    try readBags(content, 0..<content.count, password)
                }
            default: throw .unsupportedKey(.pkcs12)
            }
            try holder.finish()
        }
    }

    private mutating func decrypt(
        _ holder: inout DERCursor, _ bytes: Span<UInt8>, _ password: borrowing SecretBytes
    ) throws(CryptoError) -> SecretBytes {
        var data = try holder.enter(DERTag.sequence, bytes)
        guard try data.small(bytes) == 0 else { throw data.blame }
        var info = try data.enter(DERTag.sequence, bytes)
        try data.finish()
        guard try info.objectIdentifier(bytes) == OID.pkcs7Data else { throw .unsupportedKey(.pkcs12) }
        let encryption = try KeyEncryption(&info, bytes)
        let ciphertext = try info.element(DERTag.primitive(0), bytes)
        try info.finish()
        return try open(encryption, bytes.extracting(ciphertext), password)
    }

    private mutating func open(
        _ encryption: KeyEncryption, _ ciphertext: Span<UInt8>, _ password: borrowing SecretBytes
    ) throws(CryptoError) -> SecretBytes {
        // PKCS#12's own function runs twice, for the key and for the IV.
        guard encryption.work <= workLeft else { throw .workTooHigh }
        workLeft -= encryption.work
        return try encryption.open(ciphertext, password: password, limit: WorkLimit(factor: 1 << 20), isBare: isBare)
    }

    private mutating func readBags(
        _ bytes: Span<UInt8>, _ range: Range<Int>, _ password: borrowing SecretBytes
    ) throws(CryptoError) {
        var top = DERCursor(range, blame: .malformedKey(.pkcs12))
        var bags = try top.enter(DERTag.sequence, bytes)
        try top.finish()
        while !bags.isAtEnd {
            try countPart()
            var bag = try bags.enter(DERTag.sequence, bytes)
            let type = try bag.objectIdentifier(bytes)
            var value = try bag.enter(DERTag.context(0), bytes)
            let attributes = try BagAttributes(&bag, bytes)
            try bag.finish()
            switch type {
            case OID.keyBag:
                keys.append(FoundKey(key: HeldKey(try DERForm.pkcs8(&value, bytes)), attributes: attributes))
            case OID.shroudedKeyBag:
                let key = try shroudedKey(&value, bytes, password)
                keys.append(FoundKey(key: HeldKey(key), attributes: attributes))
            case OID.certificateBag:
                var holder = try value.enter(DERTag.sequence, bytes)
                guard try holder.objectIdentifier(bytes) == OID.x509Certificate else { throw .unsupportedKey(.pkcs12) }
                var inside = try holder.enter(DERTag.context(0), bytes)
                try holder.finish()
                let der = bytes.bytes(try inside.element(DERTag.octetString, bytes))
                try inside.finish()
                certificates.append((try Certificate(der: der, blame: value.blame), attributes))
            default: throw .unsupportedKey(.pkcs12)
            }
            try value.finish()
        }
    }

    private mutating func shroudedKey(
        _ value: inout DERCursor, _ bytes: Span<UInt8>, _ password: borrowing SecretBytes
    ) throws(CryptoError) -> PrivateKey {
        var info = try value.enter(DERTag.sequence, bytes)
        let encryption = try KeyEncryption(&info, bytes)
        let ciphertext = try info.element(DERTag.octetString, bytes)
        try info.finish()
        let plain = try open(encryption, bytes.extracting(ciphertext), password)
        return try plain.withBytes { (plain) throws(CryptoError) in
            var inside = DERCursor(0..<plain.count, blame: .malformedKey(.pkcs12))
            let key = try DERForm.pkcs8(&inside, plain)
            try inside.finish()
            return key
        }
    }

    /// Attack: a small file of very many parts.
    private mutating func countPart() throws(CryptoError) {
        parts += 1
        guard parts <= Self.mostParts else { throw .malformedKey(.pkcs12) }
    }

    func finish() -> PKCS12Contents {
        var identities: [PKCS12Identity] = []
        for found in keys {
            guard let key = found.key.take() else { continue }
            let spki = try? key.publicKey().spki()
            // The id is only a hint; a certificate of another key is no identity.
            let mine = certificates.filter { $0.0.spki == spki }
            let match = mine.first { $0.1.localKeyID == found.attributes.localKeyID } ?? mine.first
            let name = found.attributes.name ?? match?.1.name ?? ""
            identities.append(PKCS12Identity(name: name, key: key, certificate: match?.0))
        }
        return PKCS12Contents(identities: identities, certificates: certificates.map(\.0))
    }
}

/// The two attributes of a bag that mean something here.
private struct BagAttributes {
    private(set) var name: String?
    private(set) var localKeyID: [UInt8]?

    init(_ bag: inout DERCursor, _ bytes: Span<UInt8>) throws(CryptoError) {
        guard var attributes = try bag.enterIfPresent(DERTag.set, bytes) else { return }
        while !attributes.isAtEnd {
            var attribute = try attributes.enter(DERTag.sequence, bytes)
            let type = try attribute.objectIdentifier(bytes)
            var values = try attribute.enter(DERTag.set, bytes)
            try attribute.finish()
            switch type {
            case OID.friendlyName:
                let text = try values.element(DERTag.bmpString, bytes)
                guard name == nil, text.count % 2 == 0 else { throw bag.blame }
                let units = stride(from: text.lowerBound, to: text.upperBound, by: 2).map {
                    UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
                }
                name = String(decoding: units, as: UTF16.self)
            case OID.localKeyID:
                guard localKeyID == nil else { throw bag.blame }
                localKeyID = bytes.bytes(try values.element(DERTag.octetString, bytes))
            default: _ = try values.any(bytes)
            }
            try values.finish()
        }
    }
}

// MARK: - Writing

extension PKCS12File {
    /// A new file: key and certificates each in PBES2 with AES-256, 600,000 rounds of SHA-256; the MAC as many.
    ///
    /// - Parameters:
    ///   - certificates: the key's own first; may be none.
    ///   - name: the friendly name.
    /// - Throws: ``CryptoError/invalidKey`` when the first certificate is of another key.
    public static func make(
        _ key: borrowing PrivateKey, certificates: [Certificate] = [], name: String, password: borrowing SecretBytes
    ) throws(CryptoError) -> SecretBytes {
        let spki = try key.publicKey().spki()
        if let own = certificates.first, own.spki != spki { throw .invalidKey }
        let id = try Digest.of(spki, .sha256)
        let safe = try safe(key, certificates, name, id, password)
        let text = try PKCS12Password.text(password)
        let (salt, iterations) = (Random.bytes(16), 600_000)
        let tag = try safe.withBytes { (safe) throws(CryptoError) in
            try MACData.compute(safe, text, salt, iterations, .sha256)
        }
        var writer = DERWriter()
        writer.sequence { file in
            file.integer(3)
            file.content(OID.pkcs7Data) { holder in safe.withBytes { holder.octets($0) } }
            file.sequence { mac in
                mac.sequence { info in
                    info.sequence { algorithm in
                        algorithm.objectIdentifier(OID.sha256)
                        algorithm.null()
                    }
                    tag.withBytes { info.octets($0) }
                }
                mac.octets(salt.span)
                mac.integer(iterations)
            }
        }
        return writer.finish()
    }

    private static func safe(
        _ key: borrowing PrivateKey, _ certificates: [Certificate], _ name: String, _ id: [UInt8],
        _ password: borrowing SecretBytes
    ) throws(CryptoError) -> SecretBytes {
        var certificateBags = DERWriter()
        certificateBags.sequence { bags in
            for (index, certificate) in certificates.enumerated() {
                bags.sequence { bag in
                    bag.objectIdentifier(OID.certificateBag)
                    bag.constructed(DERTag.context(0)) { value in
                        value.sequence { holder in
                            holder.objectIdentifier(OID.x509Certificate)
                            holder.constructed(DERTag.context(0)) { $0.octets(certificate.der.span) }
                        }
                    }
                    if index == 0 { bag.attributes(name, id) }
                }
            }
        }
        let certificateBytes = certificateBags.finish()
        let encryption = KeyEncryption.new()
        let sealed = try encryption.seal(certificateBytes, password: password)
        let shrouded = try key.encryptedPKCS8(password: password)
        var keyBags = DERWriter()
        keyBags.sequence { bags in
            bags.sequence { bag in
                bag.objectIdentifier(OID.shroudedKeyBag)
                bag.constructed(DERTag.context(0)) { value in shrouded.withBytes { value.raw($0) } }
                bag.attributes(name, id)
            }
        }
        let keyBytes = keyBags.finish()
        var writer = DERWriter()
        writer.sequence { infos in
            if !certificates.isEmpty {
                infos.content(OID.pkcs7Encrypted) { holder in
                    holder.sequence { data in
                        data.integer(0)
                        data.sequence { info in
                            info.objectIdentifier(OID.pkcs7Data)
                            encryption.write(&info)
                            sealed.withBytes { info.primitive(DERTag.primitive(0), $0) }
                        }
                    }
                }
            }
            infos.content(OID.pkcs7Data) { holder in keyBytes.withBytes { holder.octets($0) } }
        }
        return writer.finish()
    }
}

extension DERWriter {
    /// A ContentInfo (RFC 2315 section 7).
    fileprivate mutating func content(_ type: [UInt8], _ body: (inout DERWriter) -> Void) {
        sequence { info in
            info.objectIdentifier(type)
            info.constructed(DERTag.context(0), body)
        }
    }

    fileprivate mutating func attributes(_ name: String, _ id: [UInt8]) {
        constructed(DERTag.set) { set in
            if !name.isEmpty {
                set.sequence { attribute in
                    attribute.objectIdentifier(OID.friendlyName)
                    let units = name.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
                    attribute.constructed(DERTag.set) { $0.primitive(DERTag.bmpString, units.span) }
                }
            }
            set.sequence { attribute in
                attribute.objectIdentifier(OID.localKeyID)
                attribute.constructed(DERTag.set) { $0.octets(id.span) }
            }
        }
    }
}
