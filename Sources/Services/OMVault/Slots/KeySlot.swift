// One way to unlock a vault: the root key, wrapped under the key that this way gives.
// Format: docs/formats/vault-format.md, "Slot".

public import OMItems
internal import OMRecords
public import OMSecrets
internal import OMStorage

/// A key slot as the vault stores it. It opens with ``VaultFile/unlock(_:with:)``.
public struct KeySlot: Hashable, Sendable {
    public enum Kind: UInt8, Hashable, Sendable, CaseIterable {
        case password = 1
        /// Not mixed with the device key: it must open the vault on another device.
        case recovery = 2
        /// Not mixed with the device key either.
        case keyFile = 3
        /// Opens with the key that a verified login hands out.
        case login = 4
        /// Opens with the recovery code that all devices share, which this device never had. Not mixed with the device key.
        case sharedRecovery = 5

        public var isStretched: Bool { self == .password || self == .recovery }

        public var isDeviceBound: Bool { self == .password || self == .login }

        /// The kind whose secret opens a slot of this kind.
        public var secretKind: Kind { self == .sharedRecovery ? .recovery : self }

        /// Whether the slot opens with a secret that the user keeps, and that no wrong password wipes.
        var isLasting: Bool { isStretched || self == .sharedRecovery }
    }

    public var kind: Kind { head.kind }
    public var id: UInt32 { head.id }
    /// How the secret is stretched. Nil for kinds that are not stretched.
    public var stretch: Argon2id.Parameters? { head.stretch }
    /// Seconds since 1970.
    public var created: Int64 { head.created }
    /// The id of the login that opens it: 16 bytes. Nil for other kinds.
    public var login: [UInt8]? { kind == .login ? head.subject : nil }

    /// The public key to which a shared recovery slot is sealed: 32 bytes. Nil for other kinds.
    package var recoveryKey: [UInt8]? { head.shared?.owner }

    let head: SlotHeader
    let commitment: [UInt8]
    let box: SealedBox
    private let scope: SlotScope

    /// The bytes of a slot.
    static let count = SlotHeader.count + 32 + boxCount
    /// Those of a shared recovery slot.
    static let maximumCount = SlotHeader.maximumCount + 32 + boxCount
    private static let boxCount = SealedBox.overhead + Key<Deriving>.count

    public var isDeviceBound: Bool { kind.isDeviceBound }

    /// The key for this slot, from the typed secret. Slow on purpose, but for a shared recovery slot.
    ///
    /// - Throws: ``VaultError/outOfMemory``, ``VaultError/unsupportedStretch``; ``VaultError/cannotUnlock`` for a
    ///   kind without a typed secret.
    public func key(stretching secret: borrowing SecretBytes) throws(VaultError) -> Key<Unlocking> {
        if let shared = head.shared {
            do throws(SecretsError) { return try shared.key(secret, vault: scope.vault) } catch { throw .cannotUnlock }
        }
        guard let stretch else { throw .cannotUnlock }
        return try stretching { () throws(SecretsError) in try Argon2id.stretch(secret, salt: head.salt, stretch) }
    }

    // MARK: - Wrapping and unwrapping

    /// Wraps the root key. The commitment and the box are bound to the vault and to every parameter of the slot.
    ///
    /// - Parameter device: That of `scope`.
    init(
        _ new: borrowing NewSlot, id: UInt32, created: Int64, root: borrowing Key<Deriving>, in scope: SlotScope,
        device: borrowing DeviceKey
    ) {
        self.scope = scope
        head = SlotHeader(
            new.kind, id: id, new.stretch, salt: new.salt, created: created, subject: new.subject, shared: new.shared)
        let (vault, bound) = (scope.vault, head.encoded)
        let slotKey = Self.slotKey(head, new.key, scope, device: device)
        commitment = slotKey.commitment(to: vault + bound)
        let wrapping: Key<Wrapping> = slotKey.derive(Context(.slotWrap))
        box = wrapping.wrap(root, context: Context(.rootWrap, .bytes(vault), .bytes(bound)))
    }

    /// - Throws: ``VaultError/cannotUnlock``.
    func unwrap(
        with key: borrowing Key<Unlocking>, device: borrowing DeviceKey?
    ) throws(VaultError) -> Key<Deriving> {
        let (vault, bound) = (scope.vault, head.encoded)
        let slotKey = try slotKey(key, device: device)
        do throws(SecretsError) {
            // The commitment is checked first: the AEAD alone could be made to open under two keys.
            try slotKey.check(commitment, to: vault + bound)
            let wrapping: Key<Wrapping> = slotKey.derive(Context(.slotWrap))
            return try wrapping.unwrap(box, context: Context(.rootWrap, .bytes(vault), .bytes(bound)))
        } catch {
            throw kind == .login ? .staleLogin(id) : .cannotUnlock
        }
    }

    private func slotKey(
        _ key: borrowing Key<Unlocking>, device: borrowing DeviceKey?
    ) throws(VaultError) -> Key<Deriving> {
        guard isDeviceBound else { return key.derive(Self.context(head, scope)) }
        switch device {
        case .some(let device): return Self.slotKey(head, key, scope, device: device)
        case .none: throw .deviceKeyMissing
        }
    }

    private static func slotKey(
        _ head: SlotHeader, _ key: borrowing Key<Unlocking>, _ scope: SlotScope, device: borrowing DeviceKey
    ) -> Key<Deriving> {
        head.kind.isDeviceBound
            ? key.derive(context(head, scope), mixing: device.key) : key.derive(context(head, scope))
    }

    /// Attack: a person who can write the files of two devices copies the shared recovery slot of one into the other one, or
    /// puts the slot from before a rekey back. Both files have one vault id, and the code fits both slots.
    private static func context(_ head: SlotHeader, _ scope: SlotScope) -> Context {
        let (vault, id) = (scope.vault, UInt64(head.id))
        return head.shared == nil
            ? Context(.slot, .bytes(vault), .number(id))
            : Context(.slotShared, .bytes(vault), .number(id), .bytes(scope.device), .number(UInt64(scope.epoch)))
    }

    // MARK: - Bytes

    /// head (58, or 122) ‖ commitment (32) ‖ box (72)
    var encoded: [UInt8] { head.encoded + commitment + box.bytes }

    /// - Parameter scope: That of the header beside it.
    init(decoding bytes: [UInt8], in scope: SlotScope) throws(VaultError) {
        self = try authentic(.slot) { () throws -> KeySlot in
            let span = bytes.span
            var cursor = ByteCursor()
            let slot = KeySlot(
                head: try SlotHeader(decoding: &cursor, in: span), commitment: try cursor.take(32, in: span),
                box: SealedBox(stored: try cursor.take(Self.boxCount, in: span)), in: scope)
            try cursor.end(in: span)
            return slot
        }
    }

    private init(head: SlotHeader, commitment: [UInt8], box: SealedBox, in scope: SlotScope) {
        (self.head, self.commitment, self.box, self.scope) = (head, commitment, box, scope)
    }
}
