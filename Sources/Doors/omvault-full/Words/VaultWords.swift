// Messages for errors of a vault.

internal import OMItems
internal import OMRecords
internal import OMSecrets
internal import OMShell
internal import OMSystem
internal import OMVault

extension Failure {
    /// - Parameter vault: The vault's name, as the user knows it.
    init(_ error: VaultError, vault: String?) {
        self = Failure(withoutSDKCode: error, vault).with(sdkCode: error.sdkCode).with(vaultError: error)
    }

    /// The refusal of a request. After an error of the disk a change may have been made.
    init(_ error: VaultError, vault: String, isOfChange isChange: Bool) {
        if isChange, case .storage(.io(let code)) = error {
            self.init(changeAfterDiskError: code)
        } else {
            self.init(error, vault: vault)
        }
    }

    /// A wrong secret for a vault, or for a backup.
    ///
    /// - Parameters:
    ///   - kind: What was given, which opens no slot of its kind.
    ///   - backup: Whether it was for a backup.
    init(wrong kind: KeySlot.Kind, vault: String, inBackup backup: Bool = false) {
        let failure = Failure(.cannotUnlock, vault: vault)
        let ending = "belongs to one vault, and ends when it is removed or the vault is rekeyed"
        let (noun, hints) =
            switch kind {
            case .password:
                (
                    "password",
                    failure.hints + [
                        backup
                            ? "forgotten: --recovery-from tty opens the backup with its recovery code"
                            : "forgotten: omvault key passwd --recovery-from tty sets a new one by the recovery code"
                    ]
                )
            case .recovery: ("recovery code", ["a code \(ending)"])
            case .sharedRecovery:
                (
                    "recovery code",
                    [
                        backup
                            ? "a backup opens with the code of the time when it was taken"
                            : "a code that another device made later: omvault key add-slot --type shared-recovery takes it"
                    ]
                )
            case .keyFile: ("key file", ["a key file \(ending)"])
            case .login: ("password of the login", failure.hints)
            }
        let owner = backup ? "the backup" : "vault \"\(vault.shown)\""
        self = Failure(failure.status, "wrong \(noun) for \(owner)", hints: hints).with(sdkCode: failure.sdkCode)
    }

    private init(withoutSDKCode error: VaultError, _ vault: String?) {
        let vault = vault.map { "vault \"\($0.shown)\"" } ?? "the vault"
        switch error {
        case .noVault:
            self.init(.noVault, "there is no \(vault)", hint: "omvault init makes one; --vault NAME chooses another")
        case .vaultExists:
            self.init(
                .exists, "\(vault) already exists",
                hint: "choose another name, or rename this vault: omvault vault rename OLD NEW")
        case .cannotUnlock:
            self.init(
                .badSecret, "wrong password, recovery code or key file for \(vault)",
                hint: "each wrong password makes the next wait longer, up to 60 seconds; nothing is wiped")
        case .delayed(let seconds):
            self.init(
                .delayed, "too early after a wrong password for \(vault); nothing was checked",
                hint: "try again in \(seconds) s; a recovery code or a key file works at once",
                details: ["retry_after": .number(seconds)])
        case .staleLogin(let id):
            self.init(
                .noOffline, "the login succeeded, but slot \(id) of \(vault) belongs to an earlier enrolment of it",
                hint: "unlock another way, and make a new slot: omvault key add-slot --type login USER")
        case .noSlot(let id):
            self.init(.notFound, "\(vault) has no slot \(id)", hint: "omvault key slots")
        case .lastSlot:
            self.init(
                .policy, "that is the last way to open \(vault); nothing was changed",
                hint: "add another way first: omvault key add-slot --type recovery")
        case .onlyLoginSlots:
            self.init(
                .policy, "a login slot needs a password or recovery slot beside it, since a login can be wiped",
                hint: "remove the login slot first, or add a slot: omvault key add-slot --type recovery")
        case .tooManySlots:
            self.init(.policy, "\(vault) already has 64 slots, the most it can have", hint: "remove one: omvault key rm-slot ID")
        case .tooManyPasswordSlots:
            self.init(
                .policy, "\(vault) already has \(KeySlot.maximumPasswords) password slots, the most it can have",
                hint: "remove one first: omvault key rm-slot ID; or add a recovery code or a key file")
        case .slotChanged(let id):
            self.init(
                .conflict, "another process changed slot \(id) of \(vault); nothing was done", hint: "omvault key slots")
        case .rekeyed:
            self.init(
                .locked, "\(vault) was rekeyed after it was unlocked, so the old keys no longer open it",
                hint: "unlock it again")
        case .policyOutOfBounds:
            self.init(
                .usage, "the value is outside the limits of a policy",
                hint: "history: 0 to \(VaultPolicy.maximumHistory); stretch: 8 to 1024 MiB and 1 to 16 passes")
        case .deviceKeyMissing:
            self.init(
                .corrupt, "the password opens \(vault) only together with this device's key, and the key is missing",
                hints: Self.otherDeviceHints)
        case .otherDeviceKey:
            self.init(.corrupt, "\(vault) was made with another device key", hints: Self.otherDeviceHints)
        case .corrupt(.header):
            self.init(
                .corrupt, "\(vault) was damaged, or changed without its keys (its header or a key slot)",
                hints: [
                    "nothing of it was used; put back your newest copy, or use omvault backup restore FILE",
                    "only if you put back an older folder omvault-device yourself: --accept-rollback reads the vault once",
                ])
        case .corrupt(.record):
            self.init(
                .corrupt, "\(vault) was damaged, or changed without its keys (a record)",
                hints: [
                    "omvault verify --deep names the record, and the versions that can still be read",
                    "omvault rm --purge --id ENTRY removes an entry that verify names",
                ])
        case .corrupt(let part):
            self.init(
                .corrupt, "\(vault) was damaged, or changed without its keys (\(part.words))",
                hint: "nothing of it was used; put back your newest copy, or use omvault backup restore FILE")
        case .rolledBack(let part):
            self.init(
                .rollback, "\(vault) is not the last state seen on this device (\(part.words))",
                hint: "an older copy was put back; --accept-rollback reads it once")
        case .unseenHere:
            self.init(
                .rollback,
                "this device has a key but no record of \(vault): the vault was copied here, or the record was deleted",
                hint: "--accept-rollback reads it once")
        case .readOnlyHere:
            self.init(
                .policy, "\(vault) can only be read here",
                hint: "this device cannot record a change, so it could not notice a later rollback",
                "a copy from another machine: omvault backup create FILE --portable, then omvault backup restore FILE")
        case .levelLocked(let level):
            self.init(
                .locked, "the level \(level.name)\(level.isDeviceOnly ? " (device only)" : "") of \(vault) is locked",
                hint: "its key is on the device that made the vault; read the item there")
        case .noItem(let name): self.init(.notFound, "no item \"\(name.text.shown)\" in \(vault)", hint: "omvault ls")
        case .ambiguous(let name, let levels):
            self.init(
                .ambiguous,
                "\(vault) has more than one item \"\(name.text.shown)\": "
                    + levels.map { $0.name + ($0.isDeviceOnly ? " (device only)" : "") }.joined(separator: ", "),
                hints: [
                    "one item was added while the other levels were locked: omvault ls --fields id,name,level,modified",
                    "omvault rm --purge --id ID removes the item that is not yours",
                ])
        case .ambiguousID(let places):
            self.init(
                .ambiguous, "\(vault) has \(places.count) items with this id: " + places.map(\.words).joined(separator: "; "),
                hints: [
                    "an attacker with this device's key added one under the other's id: look at both",
                    "omvault rm --purge --id ENTRY --level LEVEL [--device-only] removes one of them",
                ], details: ["places": .list(places.map { .text("\($0.level.words) \(Hex.encode($0.entry))") })])
        case .noField(let field, let name):
            self.init(
                .notFound, "no field \"\(field.text.shown)\" in item \"\(name.text.shown)\"",
                hint: "omvault show \(name.asReference.asShellWord)")
        case .noRevision(let revision, let name):
            self.init(
                .notFound, "item \"\(name.text.shown)\" has no revision \(revision)",
                hint: "omvault history \(name.asReference.asShellWord)")
        case .itemExists(let name):
            self.init(
                .exists, "item \"\(name.text.shown)\" already exists",
                hint: "omvault set \(name.shellReference(to: "FIELD")) changes it")
        case .fieldExists(let field): self.init(usage: "field \"\(field.text.shown)\" is given twice")
        case .changedMeanwhile(let name, let revision):
            self.init(
                .conflict, "item \"\(name.text.shown)\" was changed meanwhile: it now has revision \(revision)",
                hint: "look at it with omvault show \(name.asReference.asShellWord), then give --if-rev \(revision)")
        case .unchanged:
            self.init(
                .unchanged, "the vault already has exactly that; nothing was changed",
                hint: "omvault show ITEM and omvault policy show print what it has")
        case .tooLarge:
            self.init(
                .usage, "a value has at most 64 MiB; an item at most 256 fields, 64 tags, 60 KiB of shown values and 256 MiB",
                hint: "split what you store into several items")
        case .tooMuchAtOnce:
            self.init(
                .usage, "one command takes at most 16 MiB of values up to 1 MiB each, and at most 64 values above 1 MiB",
                hint: "store some of the fields now, and the others with omvault set")
        case .largeValue(let count, _, _):
            self.init(
                .usage, "the value has \(count) bytes, and one above 1 MiB comes only as bytes",
                hint: "omvault get ITEM:FIELD > FILE")
        case .mistypedRecoveryCode:
            self.init(
                .badSecret, "this is not a recovery code: a character is missing or mistyped",
                hint: "compare it with the code that you wrote down, and give it again")
        case .malformedKeyFile:
            self.init(
                .badSecret, "this is not a key file, or one of its characters was changed",
                hint: "omvault key add-slot --type file --out FILE makes one")
        case .invalidItemName:
            self.init(
                .usage, "the item's name is not valid",
                hint: "an item's name has 1 to 255 bytes of UTF-8 and no control characters")
        case .invalidFieldName:
            self.init(
                .usage, "the field's name is not valid",
                hint: "a field's name has 1 to 64 bytes of UTF-8, no control characters, no colon, slash or equals sign")
        case .invalidTag:
            self.init(
                .usage, "the tag is not valid",
                hint: "a tag has 1 to 64 bytes of UTF-8, no control characters and no comma")
        case .invalidExpiry:
            self.init(.usage, "an item expires at a time after 1970", hint: "give a day such as 2027-01-31, or never")
        case .notShowable(let field):
            self.init(
                .usage, "the value of \(field.text.shown) cannot be shown",
                hint: "a shown value is text of at most \(Item.maximumShownCount) bytes; leave the field concealed")
        case .laterContent:
            self.init(
                .unsupported, "an item of \(vault) has a form that this omvault does not know",
                hint: "a later omvault wrote the item; update omvault")
        case .emptyKey: self.init(usage: "the key of a credential or property cannot be empty")
        case .unsupportedStretch: self.init(SecretsError.lanesUnsupported)
        case .outOfMemory: self.init(SecretsError.outOfMemory)
        case .noPortableSlot:
            self.init(
                .policy, "\(vault) has no slot that opens without this device's key, so no other device could open a backup",
                hint: "add a recovery code first: omvault key add-slot --type recovery")
        case .vaultKnownHere:
            self.init(
                .policy, "this device knows the vault of this backup; after the restore it would refuse every other copy",
                hints: [
                    "if the other copy is lost, or may be refused from now on: --replace-living",
                    "otherwise keep using the other copy; to look into the backup: \(Self.lookHint)",
                ])
        case .noLogHere:
            self.init(
                .corrupt, "the audit log of \(vault) was written with another device key",
                hint: "read the log on the device that wrote it")
        case .vaultSyncs:
            self.init(
                .policy, "\(vault) syncs with other devices, and would be shut out with new keys",
                hint: "omvault key rekey gives the other devices new keys too")
        case .changedMeaning(let name):
            self.init(
                .ambiguous, "by a change of another device, \"\(name.text.shown)\" means another item than before in \(vault)",
                hints: [
                    "omvault sync diff \(name.text.asShellWord) shows both",
                    "if the new one is right: omvault sync resolve \(name.text.asShellWord)",
                ])
        case .storage(let error): self.init(error)
        }
    }
}

extension Failure {
    /// What opens a vault where its device key is not.
    private static let otherDeviceHints = [
        "the recovery code opens it anywhere: --recovery-from tty; so does a key file: --key-file-from file:PATH",
        "if this machine made it, put its folder omvault-device back; a new machine gets a vault by omvault backup restore",
    ]
    /// A backup beside its vault: a device accepts one state of a vault.
    static let lookHint = "HOME=NEWFOLDER omvault backup restore FILE --recovery-from tty"
    /// What to write for an address with a colon.
    private static let colonHint = "a colon ends an item's name, as in ITEM:FIELD; quote a name with a colon: '\"NAME\":FIELD'"

    /// - Parameter text: The item's name as it was typed.
    init(_ error: VaultError, itemName text: String) {
        self.init(error, vault: nil)
        guard error == .invalidItemName else { return }
        if text.isEmpty {
            self = with(hints: ["give the item a name, such as github"])
        } else if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            self = with(hints: ["write the name without line ends, tabs and other control characters"])
        }
    }

    /// - Parameter text: What was typed behind `ITEM:`. Of an address with a colon, this is the rest.
    init(_ error: VaultError, fieldName text: String) {
        self.init(error, vault: nil)
        guard error == .invalidFieldName, text.hasPrefix("//") || text.utf8.contains(UInt8(ascii: ":")) else { return }
        self = with(hints: hints + [Self.colonHint])
    }
}

extension EntryReference {
    /// The entry, and its item's name if it can be read.
    var words: String {
        let place = "entry \(Hex.encode(entry)) of \(level.words)"
        guard let item else { return "\(place), which cannot be read" }
        return "\"\(item.name.text.shown)\" (\(place)\(item.isTrashed ? ", in the trash" : ""))"
    }
}

extension ProtectionLevel {
    var words: String { name + (isDeviceOnly ? " device-only" : "") }
}

extension VaultError.Part {
    fileprivate var words: String {
        switch self {
        case .header: "its header"
        case .slot: "a key slot"
        case .level: "the state of a level"
        case .tree: "the list of its items"
        case .record: "a record"
        case .backup: "a backup"
        case .sync: "the state of sync"
        }
    }
}
