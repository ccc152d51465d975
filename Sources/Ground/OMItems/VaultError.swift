public import OMRecords
public import OMSystem

/// The errors of a vault. Wrong secret, damaged, put back, locked and not found are five different cases.
@nonexhaustive
public enum VaultError: Error, Hashable, Sendable {
    /// There is no vault at this path.
    case noVault
    /// There is something at this path already.
    case vaultExists
    /// The password, code or key does not open this slot.
    case cannotUnlock
    /// It is too early after a wrong password. Nothing was checked.
    case delayed(seconds: Int)
    /// The login is right, but slot `id` was made for an earlier enrolment.
    case staleLogin(UInt32)
    case noSlot(UInt32)
    /// A vault without a slot could never be opened again.
    case lastSlot
    /// A login slot needs a password or recovery slot beside it, because a login can be wiped.
    case onlyLoginSlots
    /// The vault has as many slots as the format allows.
    case tooManySlots
    /// The vault has as many password slots as one try covers.
    case tooManyPasswordSlots
    /// Another process changed or removed the slot meanwhile.
    case slotChanged(UInt32)
    /// The vault got new keys since it was unlocked, or a header that only an unlock can check. For a holder of the old
    /// keys it is locked.
    case rekeyed
    /// A policy keeps 0 to 1000 older versions, and stretches within the bounds of Argon2id.
    case policyOutOfBounds
    /// The slot needs this device's key, which is missing.
    case deviceKeyMissing
    /// The slot needs the key of the device that the vault was made on. This device has another key.
    case otherDeviceKey
    /// A part of the vault is damaged, or an attacker without its keys changed it.
    case corrupt(Part)
    /// The vault is older than the last state that this device saw, or a different state of the same age.
    case rolledBack(Part)
    /// This device has a key but never saw this vault: it was copied here, or its high-water file was deleted.
    case unseenHere
    /// This vault can only be read here: this device has no key to note a change with.
    case readOnlyHere
    /// The level's key is missing: the vault is locked, or the level is bound to another device.
    case levelLocked(ProtectionLevel)
    case noItem(ItemName)
    /// Items at more than one level have this name. One of them was added while the other levels were locked.
    case ambiguous(ItemName, [ProtectionLevel])
    /// More than one item has this id or this entry. An attacker with this device's key added one of them.
    case ambiguousID([EntryReference])
    case noField(FieldName, of: ItemName)
    /// The item has no such version. It never had one, or the version was dropped.
    case noRevision(UInt64, of: ItemName)
    case itemExists(ItemName)
    case fieldExists(FieldName)
    /// The item has another revision than the change expects, because it was changed meanwhile.
    case changedMeanwhile(ItemName, revision: UInt64)
    /// The new value is the old one.
    case unchanged
    /// A value or an item above the limits of ``Item``.
    case tooLarge
    /// One change has more values in memory, or more large values, than ``FieldValues`` takes.
    case tooMuchAtOnce
    /// The value is too large to be read whole: its bytes, the revision of its item, and its digest (32 bytes).
    case largeValue(count: Int, revision: UInt64, digest: [UInt8])
    /// Text that is no recovery code: a character is missing or mistyped.
    case mistypedRecoveryCode
    /// Text that is no key file: not 88 bytes of its form, or its checksum is wrong.
    case malformedKeyFile
    case invalidItemName
    case invalidFieldName
    /// A tag has 1 to 64 bytes of UTF-8 without control characters or commas.
    case invalidTag
    /// An item expires at a time after 1970.
    case invalidExpiry
    /// A value that cannot be shown: above 1024 bytes, or no text.
    case notShowable(FieldName)
    /// A later omvault wrote the item: it has a type or a form that this one does not know.
    case laterContent
    /// A credential or property without a key (SDK 10501).
    case emptyKey
    case outOfMemory
    /// The slot's stretch has more lanes than this build computes.
    case unsupportedStretch
    /// No slot would open on another device, so the backup would be useless there.
    case noPortableSlot
    /// This device has seen the vault of the backup. The restored vault would replace it.
    case vaultKnownHere
    /// The audit log can be read and written only with the device key that authenticates it.
    case noLogHere
    /// The vault syncs, and this change would shut it out of the sync.
    case vaultSyncs
    /// By a merge of sync, the name means another item than before on this device, and the user has not settled it yet.
    case changedMeaning(ItemName)
    case storage(StorageError)

    public enum Part: String, Hashable, Sendable { case header, slot, level, tree, record, backup, sync }

    /// Whether it reports damage in the file, and not a file that cannot be read now.
    package var isDamage: Bool {
        switch self {
        case .corrupt, .storage(.corrupt): true
        default: false
        }
    }
}

extension VaultError {
    /// The table of the errors: the number in the agent's protocol, which never changes its meaning, and the SDK's
    /// number. Nil if the SDK has none.
    package var entry: (tag: UInt8, sdkCode: Int?) {
        switch self {
        case .noVault: (1, nil)
        case .vaultExists: (2, nil)
        case .cannotUnlock: (3, nil)
        case .deviceKeyMissing: (4, nil)
        case .otherDeviceKey: (5, nil)
        case .corrupt: (6, nil)
        case .rolledBack: (7, nil)
        case .unseenHere: (8, nil)
        case .readOnlyHere: (9, nil)
        case .levelLocked: (10, 70016)
        case .rekeyed: (11, nil)
        case .noItem: (12, 10523)
        case .ambiguous: (13, nil)
        case .noField: (14, 10523)
        case .itemExists: (15, 10528)
        case .fieldExists: (16, nil)
        case .changedMeanwhile: (17, nil)
        case .unchanged: (18, nil)
        case .tooLarge: (19, nil)
        case .mistypedRecoveryCode: (20, nil)
        case .invalidItemName: (21, nil)
        case .invalidFieldName: (22, nil)
        case .outOfMemory: (23, nil)
        case .unsupportedStretch: (24, nil)
        case .storage: (25, nil)
        case .delayed: (26, nil)
        case .staleLogin: (27, nil)
        case .noSlot: (28, nil)
        case .lastSlot: (29, nil)
        case .onlyLoginSlots: (30, nil)
        case .tooManySlots: (31, nil)
        case .slotChanged: (32, nil)
        case .policyOutOfBounds: (33, nil)
        case .noRevision: (34, nil)
        case .malformedKeyFile: (35, nil)
        case .noLogHere: (36, nil)
        case .emptyKey: (37, 10501)
        case .noPortableSlot: (38, nil)
        case .vaultKnownHere: (39, nil)
        case .ambiguousID: (40, nil)
        case .tooManyPasswordSlots: (41, nil)
        case .invalidTag: (42, nil)
        case .invalidExpiry: (43, nil)
        case .notShowable: (44, nil)
        case .laterContent: (45, nil)
        case .largeValue: (46, nil)
        case .tooMuchAtOnce: (47, nil)
        case .vaultSyncs: (48, nil)
        case .changedMeaning: (49, nil)
        }
    }

    /// The errors without an associated value: the tag says everything.
    package static let withoutValue: [VaultError] = [
        .noVault, .vaultExists, .cannotUnlock, .deviceKeyMissing, .otherDeviceKey, .unseenHere, .readOnlyHere, .rekeyed,
        .unchanged, .tooLarge, .mistypedRecoveryCode, .invalidItemName, .invalidFieldName, .outOfMemory, .unsupportedStretch,
        .lastSlot, .onlyLoginSlots, .tooManySlots, .policyOutOfBounds, .malformedKeyFile, .noLogHere, .emptyKey,
        .noPortableSlot, .vaultKnownHere, .tooManyPasswordSlots, .invalidTag, .invalidExpiry, .laterContent,
        .tooMuchAtOnce, .vaultSyncs,
    ]

    /// The SDK's number. Nil if the SDK has none.
    public var sdkCode: Int? { entry.sdkCode }
}

extension VaultError: StorageErrorConvertible {
    public init(storage error: StorageError) {
        switch error {
        case .missing: self = .noVault
        case .exists: self = .vaultExists
        default: self = .storage(error)
        }
    }
}
