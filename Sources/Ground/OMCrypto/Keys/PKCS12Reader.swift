// The strict reader of PKCS#12's safes, bags and attributes (RFC 7292 section 4). All derivations of a file share one work
// limit.

internal import OMSecrets

/// The bags of a file that were read so far.
struct PKCS12Reader {
    private struct FoundKey {
        let key: KeyBox
        let attributes: BagAttributes
    }

    /// Holds a key until its identity is made: an array cannot hold a noncopyable `PrivateKey`.
    private final class KeyBox {
        private var key: PrivateKey?
        init(_ key: consuming PrivateKey) { self.key = consume key }
        func take() -> PrivateKey? { key.take() }
    }

    private static let maximumSafesAndBags = 64
    private var sharedWorkLeft: Int
    private let limitOfEach: WorkLimit
    /// How a derivation takes an empty password: ``KeyEncryption/open(_:password:limit:isBare:)``.
    private let isBare: Bool
    private var safesAndBags = 0
    private var keys: [FoundKey] = []
    private var certificates: [(Certificate, BagAttributes)] = []

    private var otherSecrets = 0

    /// - Parameters:
    ///   - sharedWork: How much work all derivations of the file may cost together.
    ///   - limitOfEach: How much work one derivation may cost.
    init(sharedWork: Int, limitOfEach: WorkLimit, isBare: Bool) {
        (sharedWorkLeft, self.limitOfEach, self.isBare) = (sharedWork, limitOfEach, isBare)
    }

    /// Reads an AuthenticatedSafe: the list of all safes.
    mutating func readAuthenticatedSafe(
        _ bytes: Span<UInt8>, _ range: Range<Int>, _ password: borrowing SecretBytes
    ) throws(CryptoError) {
        var top = DERCursor(range, blame: .malformedKey(.pkcs12))
        var infos = try top.enter(DERTag.sequence, bytes)
        try top.finish()
        while !infos.isAtEnd {
            try countOne()
            var info = try infos.enter(DERTag.sequence, bytes)
            let type = try info.objectIdentifier(bytes)
            var content = try info.enter(DERTag.context(0), bytes)
            try info.finish()
            switch type {
            case OID.pkcs7Data:
                try readBags(bytes, try content.element(DERTag.octetString, bytes), password)
            case OID.pkcs7Encrypted:
                let plain = try decrypt(&content, bytes, password)
                try plain.withBytes { (plain) throws(CryptoError) in
                    try readBags(plain, 0..<plain.count, password)
                }
            default: throw .unsupportedKey(.pkcs12)
            }
            try content.finish()
        }
    }

    private mutating func decrypt(
        _ content: inout DERCursor, _ bytes: Span<UInt8>, _ password: borrowing SecretBytes
    ) throws(CryptoError) -> SecretBytes {
        var data = try content.enter(DERTag.sequence, bytes)
        let version = try data.small(bytes)
        guard version == 0 else { throw data.blame }
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
        guard encryption.work <= sharedWorkLeft else { throw .workTooHigh }
        sharedWorkLeft -= encryption.work
        return try encryption.open(ciphertext, password: password, limit: limitOfEach, isBare: isBare)
    }

    /// Reads a SafeContents: the bags of one safe.
    private mutating func readBags(
        _ bytes: Span<UInt8>, _ range: Range<Int>, _ password: borrowing SecretBytes
    ) throws(CryptoError) {
        var top = DERCursor(range, blame: .malformedKey(.pkcs12))
        var bags = try top.enter(DERTag.sequence, bytes)
        try top.finish()
        while !bags.isAtEnd {
            try countOne()
            var bag = try bags.enter(DERTag.sequence, bytes)
            let type = try bag.objectIdentifier(bytes)
            var value = try bag.enter(DERTag.context(0), bytes)
            let attributes = try BagAttributes(&bag, bytes)
            try bag.finish()
            switch type {
            case OID.keyBag:
                keys.append(FoundKey(key: KeyBox(try DERForm.pkcs8(&value, bytes)), attributes: attributes))
            case OID.shroudedKeyBag:
                let key = try shroudedKey(&value, bytes, password)
                keys.append(FoundKey(key: KeyBox(key), attributes: attributes))
            case OID.certificateBag:
                var certificateBag = try value.enter(DERTag.sequence, bytes)
                guard try certificateBag.objectIdentifier(bytes) == OID.x509Certificate else { throw .unsupportedKey(.pkcs12) }
                var inside = try certificateBag.enter(DERTag.context(0), bytes)
                try certificateBag.finish()
                let der = bytes.bytes(try inside.element(DERTag.octetString, bytes))
                try inside.finish()
                certificates.append((try Certificate(der: der, blame: value.blame), attributes))
            case OID.secretBag:
                // It is not a key pair: Java keeps passwords and symmetric keys in such bags.
                _ = try value.element(DERTag.sequence, bytes)
                otherSecrets += 1
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

    /// Attack: a small file has very many safes or bags, which all cost work. Their number is limited.
    private mutating func countOne() throws(CryptoError) {
        safesAndBags += 1
        guard safesAndBags <= Self.maximumSafesAndBags else { throw .malformedKey(.pkcs12) }
    }

    /// The content of the file, each key with its certificate.
    func contents() -> PKCS12Contents {
        var identities: [PKCS12Identity] = []
        for found in keys {
            guard let key = found.key.take() else { continue }
            let spki = try? key.publicKey().spki()
            // A certificate belongs to a key if the public keys are equal. Among several, the same localKeyID decides.
            let mine = certificates.filter { $0.0.spki == spki }
            let match = mine.first { $0.1.localKeyID == found.attributes.localKeyID } ?? mine.first
            let name = found.attributes.name ?? match?.1.name ?? ""
            identities.append(PKCS12Identity(name: name, key: key, certificate: match?.0))
        }
        return PKCS12Contents(
            identities: identities, certificates: certificates.map(\.0), otherSecrets: otherSecrets)
    }
}

/// The two attributes of a bag that this reader uses.
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
                let range = try values.element(DERTag.bmpString, bytes)
                guard name == nil, range.count % 2 == 0 else { throw bag.blame }
                let units = stride(from: range.lowerBound, to: range.upperBound, by: 2).map {
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
