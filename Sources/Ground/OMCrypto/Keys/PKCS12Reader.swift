// What stands inside of PKCS#12: safes, bags, attributes (RFC 7292 section 4). Read strictly, each derivation on the
// account of one allowance of work.

internal import OMSecrets

/// The bags of a file as they are found.
struct PKCS12Reader {
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
    private let limit: WorkLimit
    private let isBare: Bool
    private var parts = 0
    private var keys: [FoundKey] = []
    private var certificates: [(Certificate, BagAttributes)] = []

    private var otherSecrets = 0

    init(workLeft: Int, limit: WorkLimit, isBare: Bool) {
        (self.workLeft, self.limit, self.isBare) = (workLeft, limit, isBare)
    }

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
        guard encryption.work <= workLeft else { throw .workTooHigh }
        workLeft -= encryption.work
        return try encryption.open(ciphertext, password: password, limit: limit, isBare: isBare)
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
            case OID.secretBag:
                // Whatever it is, it is no key pair: Java keeps passwords and symmetric keys so.
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
        return PKCS12Contents(
            identities: identities, certificates: certificates.map(\.0), otherSecrets: otherSecrets)
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
