// The folder for data that stays on this device: its key, and the marks of the states it has seen. Keep it out of backups.

internal import Glibc
internal import OMSecrets
public import OMSystem

/// `$XDG_STATE_HOME/omvault-device/`: mode 0700, owned by this user, not a symbolic link, on a local file system.
public struct DeviceFolder: Sendable {
    private static let keyFile = "device.key"

    private let folder: PrivateFolder

    /// - Throws: ``StorageError/missing``, ``StorageError/hazardous(_:path:)``.
    public init(_ path: String) throws(StorageError) { folder = try PrivateFolder(path) }

    private init(made folder: PrivateFolder) { self.folder = folder }

    /// The folder. It is created if it is missing.
    public static func make(_ path: String) throws(StorageError) -> DeviceFolder {
        DeviceFolder(made: try PrivateFolder.make(path))
    }

    /// How strongly the key is tied to the machine. 1 means a file. A vault's header and a backup record it, so
    /// that a lower value is noticed.
    package var rank: UInt8 { 1 }

    /// - Returns: nil if no key was ever made here.
    package func load() throws(StorageError) -> DeviceKey? {
        guard let file = try PrivateFile.ifPresent(folder.file(Self.keyFile), O_RDONLY) else { return nil }
        // Read directly into locked memory. One byte more than a key has, to notice a longer file.
        var bytes = SecretBuffer(capacity: Key<Deriving>.count + 1)
        try bytes.append(upTo: Key<Deriving>.count + 1) { (target: inout MutableSpan<UInt8>) throws(StorageError) in
            try file.read(into: &target)
        }
        do { return DeviceKey(try Key<Deriving>(readFrom: bytes.finish())) } catch { throw .deviceKeyDamaged }
    }

    /// The key. Nil if none was ever made here.
    ///
    /// - Throws: ``StorageError/deviceKeyMissing`` if there was a key here that is gone.
    package func existing() throws(StorageError) -> DeviceKey? {
        if let key = try load() { return key }
        guard try folder.names().contains(where: { $0.hasSuffix(HighWaterFile.suffix) }) else { return nil }
        // Another process may have made both since. A key is made before its marks.
        guard let key = try load() else { throw .deviceKeyMissing }
        return key
    }

    /// The key, made if there is none. If two processes make it at once, both get the same key.
    ///
    /// - Throws: ``StorageError/deviceKeyMissing`` if there was a key here that is gone.
    package func make() throws(StorageError) -> DeviceKey {
        // A new key would make every vault and login of the lost key look damaged.
        if let key = try existing() { return key }
        let key = Key<Deriving>.random()
        do throws(StorageError) {
            try key.withExposedBytes { (bytes: Span<UInt8>) throws(StorageError) in
                try folder.create(Self.keyFile, holding: bytes)
            }
            return DeviceKey(key)
        } catch {
            guard error == .exists, let other = try load() else { throw error }
            return other
        }
    }

    /// The marks of one vault or login, authenticated under `key`.
    package func highWater(
        _ kind: HighWaterFile.Kind, id: [UInt8], under key: borrowing DeviceKey
    ) -> HighWaterFile {
        HighWaterFile(in: folder, kind, of: id, key.key.derive(Context(.highWaterMAC)))
    }
}
