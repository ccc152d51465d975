// What a key says of itself that it is for. Only JWK says so; a key of any other form is for whatever its kind can do.

/// The operations that a key allows, by the names of RFC 7517 section 4.3.
struct KeyUses: OptionSet, Sendable {
    let rawValue: UInt8

    static let sign = KeyUses(rawValue: 1)
    static let verify = KeyUses(rawValue: 2)
    static let encrypt = KeyUses(rawValue: 4)
    static let decrypt = KeyUses(rawValue: 8)
    static let wrap = KeyUses(rawValue: 16)
    static let unwrap = KeyUses(rawValue: 32)
    static let derive = KeyUses(rawValue: 64)

    static let any: KeyUses = [.sign, .verify, .encryption]
    private static let encryption: KeyUses = [.encrypt, .decrypt, .wrap, .unwrap, .derive]

    /// Nil for a use that is none of the RFC's: what it means is not known, so nothing may be done.
    init?(use: String) {
        switch use {
        case "sig": self = [.sign, .verify]
        case "enc": self = .encryption
        default: return nil
        }
    }

    /// Names that are not the RFC's allow nothing that is done here.
    init(operations: Set<String>) {
        let known: [String: KeyUses] = [
            "sign": .sign, "verify": .verify, "encrypt": .encrypt, "decrypt": .decrypt, "wrapKey": .wrap,
            "unwrapKey": .unwrap, "deriveKey": .derive, "deriveBits": .derive,
        ]
        self = operations.reduce(into: []) { $0.formUnion(known[$1] ?? []) }
    }

    init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The same for the public half: who may sign may have the signature verified.
    var ofPublicHalf: KeyUses {
        var half = self
        if contains(.sign) { half.insert(.verify) }
        if contains(.decrypt) { half.insert(.encrypt) }
        if contains(.unwrap) { half.insert(.wrap) }
        return half
    }

    /// - Parameter operations: those of which one is enough: a wrapped key is an encrypted message as well.
    /// - Throws: ``CryptoError/keyUseNotAllowed``.
    func require(_ operations: KeyUses) throws(CryptoError) {
        guard !isDisjoint(with: operations) else { throw .keyUseNotAllowed }
    }

    /// As ``require(_:)`` for the other's public key in an agreement: it does nothing by itself, and software writes it
    /// with no operations at all.
    func requireAsPeer(_ operations: KeyUses) throws(CryptoError) {
        guard !isEmpty else { return }
        try require(operations)
    }
}
