internal import OMSecrets

/// How a slot's password becomes a key. This is fixed when the slot is made.
struct SlotKeyDerivation: Hashable, Sendable {
    static let saltCount = Argon2id.saltCount

    let scheme: CryptoScheme
    let schemeSalt: [UInt8]
    let stretchSalt: [UInt8]
    let parameters: Argon2id.Parameters

    init(_ scheme: CryptoScheme, _ parameters: Argon2id.Parameters) {
        (self.scheme, self.parameters) = (scheme, parameters)
        (schemeSalt, stretchSalt) = (Random.bytes(Self.saltCount), Random.bytes(Self.saltCount))
    }

    /// The slow part. Run it outside every lock.
    func stretch(_ password: borrowing Password) throws(AuthError) -> Key<Unlocking> {
        let inner = try scheme.inner(of: password, salt: schemeSalt)
        do { return try Argon2id.stretch(inner, salt: stretchSalt, parameters) } catch { throw .outOfMemory }
    }

    /// Everything that a slot is bound to and that never changes while it lives.
    func header(_ id: LoginID, _ deviceID: [UInt8]) -> [UInt8] {
        [LoginSlot.version] + id.bytes + deviceID + encoded
    }
}
