internal import OMItems
internal import OMRecords
internal import OMSecrets
internal import OMStorage

/// A class key as the header stores it: wrapped under the root key, the device key, or both.
struct ClassKeyWrap: Hashable, Sendable {
    enum Under: UInt8, Hashable, Sendable { case root = 1, rootAndDevice = 2, device = 3 }

    static let boxCount = SealedBox.overhead + Key<Deriving>.count

    let level: ProtectionLevel
    let under: Under
    let box: SealedBox

    /// The wraps of a level. `always` has one under the device key, so that it opens while the vault is locked. It has
    /// another one under the root key, for other devices. A device-only level has no wrap that another device could open.
    static func kinds(of level: ProtectionLevel) -> [Under] {
        switch (level.availability, level.isDeviceOnly) {
        case (.always, false): [.device, .root]
        case (.always, true): [.device]
        case (_, false): [.root]
        case (_, true): [.rootAndDevice]
        }
    }

    static let all: [(ProtectionLevel, Under)] = ProtectionLevel.allCases.flatMap { level in
        kinds(of: level).map { (level, $0) }
    }
}

/// The keys that wrap class keys: the root key and the device key. A missing one is nil.
struct ClassKeyring: ~Copyable {
    let root: Key<Deriving>?
    let device: DeviceKey?

    /// The wraps of a level, under each of its keys that this keyring has.
    func wraps(
        _ classKey: borrowing Key<Deriving>, _ level: ProtectionLevel, vault: [UInt8], epoch: UInt32
    ) -> [ClassKeyWrap] {
        var wraps: [ClassKeyWrap] = []
        for under in ClassKeyWrap.kinds(of: level) {
            if let wrap = wrap(classKey, level, under, vault: vault, epoch: epoch) { wraps.append(wrap) }
        }
        return wraps
    }

    consuming func intoDevice() -> DeviceKey? { device }

    private func wrap(
        _ classKey: borrowing Key<Deriving>, _ level: ProtectionLevel, _ under: ClassKeyWrap.Under, vault: [UInt8],
        epoch: UInt32
    ) -> ClassKeyWrap? {
        guard let key = key(level, under, vault) else { return nil }
        return ClassKeyWrap(
            level: level, under: under,
            box: key.wrap(classKey, context: Self.context(level, under, vault: vault, epoch: epoch)))
    }

    /// - Returns: nil if this keyring lacks the key.
    /// - Throws: ``VaultError/corrupt(_:)``.
    func unwrap(_ wrap: ClassKeyWrap, vault: [UInt8], epoch: UInt32) throws(VaultError) -> LevelKeys? {
        let classKey = try classKey(wrap, vault: vault, epoch: epoch)
        switch classKey {
        case .some(let classKey): return LevelKeys(classKey: classKey)
        case .none: return nil
        }
    }

    /// The class key itself, to wrap it again.
    func classKey(_ wrap: ClassKeyWrap, vault: [UInt8], epoch: UInt32) throws(VaultError) -> Key<Deriving>? {
        guard let key = key(wrap.level, wrap.under, vault) else { return nil }
        return try authentic(.header) { () throws(SecretsError) in
            try key.unwrap(wrap.box, context: Self.context(wrap.level, wrap.under, vault: vault, epoch: epoch))
        }
    }

    private func key(_ level: ProtectionLevel, _ under: ClassKeyWrap.Under, _ vault: [UInt8]) -> Key<Wrapping>? {
        let context = Context(
            .classWrapKey, .bytes(vault), .number(UInt64(level.code)), .number(UInt64(under.rawValue)))
        if under == .root { return root?.derive(context) }
        switch device {
        case .some(let device):
            return under == .device ? device.key.derive(context) : root?.derive(context, mixing: device.key)
        case .none: return nil
        }
    }

    private static func context(
        _ level: ProtectionLevel, _ under: ClassKeyWrap.Under, vault: [UInt8], epoch: UInt32
    ) -> Context {
        Context(
            .classWrap, .bytes(vault), .number(UInt64(level.code)), .number(UInt64(under.rawValue)),
            .number(UInt64(epoch)))
    }
}
