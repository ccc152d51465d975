// How a verb gets at a vault: which file, which device, which password.

internal import ArgumentParser
internal import OMRecords
internal import OMSecrets
internal import OMStorage
internal import OMVault

/// One vault, found but not opened.
struct VaultAccess {
    let door: Door
    let place: VaultPlace
    let device: DeviceFolder?
    /// Its path; empty where there is none.
    let deviceFolder: String
    let acceptsRollback: Bool

    /// - Parameter name: the vault that a reference names; nil for the one of `--vault`.
    init(_ door: Door, vault name: String? = nil, acceptsRollback: Bool = false) throws(Failure) {
        let home = try door.home()
        self.door = door
        self.acceptsRollback = acceptsRollback
        place = if let name { try VaultPlace(name, in: home) } else { try door.vault(home) }
        device = try Self.deviceFolder(home)
        deviceFolder = device == nil ? "" : home.device
    }

    /// Runs `body` on the vault; its errors get the vault's name.
    func run<R: ~Copyable>(_ body: () throws(VaultError) -> R) throws(Failure) -> R {
        do throws(VaultError) { return try body() } catch { throw Failure(error, vault: place.name) }
    }

    func file() throws(Failure) -> VaultFile {
        try run { () throws(VaultError) in
            try VaultFile.open(place.path, device: device, acceptsRollback: acceptsRollback)
        }
    }

    /// Nil where this user never had a device key.
    private static func deviceFolder(_ home: Home) throws(Failure) -> DeviceFolder? {
        do throws(StorageError) { return try DeviceFolder(home.device) } catch {
            if error == .missing { return nil }
            throw Failure(error)
        }
    }
}

/// `ITEM` or `ITEM:FIELD`, as it is typed.
struct ItemReference: ExpressibleByArgument {
    let item: String
    let field: String?

    init(argument: String) {
        let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        (item, field) = (parts[0], parts.count == 2 ? parts[1] : nil)
    }

    /// An item where no field can be named.
    init(whole text: String) { (item, field) = (text, nil) }

    func itemName() throws(Failure) -> ItemName {
        do throws(VaultError) { return try ItemName(item) } catch { throw Failure(error, vault: nil) }
    }

    /// - Throws: ``ExitStatus/usage`` when no field was named.
    func path() throws(Failure) -> FieldPath {
        guard let field else {
            throw Failure(
                .usage, "\"\(item.shown)\" names no field", hint: "name it as \(item.shown):FIELD, such as :password")
        }
        let item = try itemName()
        do throws(VaultError) { return FieldPath(item, try FieldName(field)) } catch {
            throw Failure(error, vault: nil)
        }
    }
}

/// `--level LEVEL [--device-only]`.
struct LevelOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "when-unlocked, after-first-unlock, always, or one of the SDK's six names.", valueName: "level"))
    var level: String?

    @Flag(help: "Bind the item to this device: it is in no backup, export or sync.")
    var deviceOnly = false

    /// Nil where nothing was given. An unknown level is an error, never a weaker one.
    func level(default defaultLevel: ProtectionLevel) throws(Failure) -> ProtectionLevel? {
        guard let text = level else {
            return deviceOnly ? ProtectionLevel(defaultLevel.availability, deviceOnly: true) : nil
        }
        guard let level = ProtectionLevel(named: text) else {
            throw Failure(
                .usage, "\"\(text.shown)\" is no protection level",
                hint: "levels: when-unlocked, after-first-unlock, always; each with or without --device-only")
        }
        return ProtectionLevel(level.availability, deviceOnly: level.isDeviceOnly || deviceOnly)
    }
}
