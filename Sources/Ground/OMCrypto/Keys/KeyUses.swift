// The uses that a key allows. Only a JWK lists them; a key of any other form allows everything that its kind can do.

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

    /// Nil for a use that the RFC does not define. Its meaning is not known, so the key may do nothing.
    init?(use: String) {
        switch use {
        case "sig": self = [.sign, .verify]
        case "enc": self = .encryption
        default: return nil
        }
    }

    /// A name that the RFC does not define allows nothing here.
    init(operations: Set<String>) {
        let known: [String: KeyUses] = [
            "sign": .sign, "verify": .verify, "encrypt": .encrypt, "decrypt": .decrypt, "wrapKey": .wrap,
            "unwrapKey": .unwrap, "deriveKey": .derive, "deriveBits": .derive,
        ]
        self = operations.reduce(into: []) { $0.formUnion(known[$1] ?? []) }
    }

    init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The uses of the public half: if the private half may sign, the public half may verify.
    var ofPublicHalf: KeyUses {
        var half = self
        if contains(.sign) { half.insert(.verify) }
        if contains(.decrypt) { half.insert(.encrypt) }
        if contains(.unwrap) { half.insert(.wrap) }
        return half
    }

    /// - Parameter operations: The key must allow one of them. A wrapped key is an encrypted message as well.
    /// - Throws: ``CryptoError/keyUseNotAllowed``.
    func require(_ operations: KeyUses) throws(CryptoError) {
        guard !isDisjoint(with: operations) else { throw .keyUseNotAllowed }
    }

    /// As ``require(_:)``, for the other side's public key in an agreement. That key does nothing by itself, so software
    /// writes it without operations.
    func requireAsPeer(_ operations: KeyUses) throws(CryptoError) {
        guard !isEmpty else { return }
        try require(operations)
    }
}
