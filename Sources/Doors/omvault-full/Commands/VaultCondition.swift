// The condition of a vault's file, as far as no password is needed.

internal import Glibc
internal import OMItems
internal import OMShell
internal import OMStorage
internal import OMSystem
internal import OMVault

/// The condition of a vault, read from its file and from this device's marks. Nothing is unlocked or changed.
struct VaultCondition {
    /// Whether there is a file.
    let isThere: Bool
    /// Whether this device made or restored it. Nil if the file cannot be read.
    let isOwnDevice: Bool?
    /// Why the password does not open it. Nil unless ``isOwnDevice`` is false.
    let otherDevice: Failure?
    /// Why the file cannot be read, or is refused.
    let problem: Failure?
    /// Whether this device wrote another file last.
    let isReplaced: Bool
    /// Whether purged bytes may still be in its log.
    let isPurgePending: Bool
    /// When the file or its log was written last, in seconds since 1970.
    let changed: Int64?

    /// - Parameter device: Nil if this user has no device folder.
    init(_ path: String, name: String, device: DeviceFolder?) {
        isThere = VaultList.isFile(path)
        changed = Self.lastChange(path)
        guard isThere else {
            (isOwnDevice, otherDevice, problem, isReplaced, isPurgePending) = (nil, nil, nil, false, false)
            return
        }
        do throws(VaultError) {
            let file = try VaultFile.open(path, device: device)
            (isOwnDevice, problem, isReplaced) = (file.isOwnDevice, nil, file.isReplaced)
            otherDevice = file.isOwnDevice ? nil : Failure(otherDevice: device, vault: name)
        } catch {
            (isOwnDevice, otherDevice, problem) = (nil, nil, Failure(error, vault: name))
            isReplaced = (try? VaultFile.open(path, device: device, acceptsRollback: true).isReplaced) ?? false
        }
        isPurgePending = (try? VaultFile.isPurgePending(path)) ?? false
    }

    /// A change goes into the log first, and into the file later.
    private static func lastChange(_ path: String) -> Int64? {
        [path, path + "-wal"].compactMap { file in
            var status = stat()
            guard stat(file, &status) == 0, file == path || status.st_size > 0 else { return nil }
            return Int64(status.st_mtim.tv_sec)
        }.max()
    }

    /// `this` or `other` in machine-readable answers.
    var deviceWord: JSONValue { isOwnDevice.map { .text($0 ? "this" : "other") } ?? .null }
}

extension Failure {
    /// The error of a vault that the key in `device` did not make: another key made it, or the key is missing.
    init(otherDevice device: DeviceFolder?, vault: String) {
        self.init(Self.hasKey(device) ? .otherDeviceKey : .deviceKeyMissing, vault: vault)
    }

    private static func hasKey(_ device: DeviceFolder?) -> Bool {
        guard let device else { return false }
        do throws(StorageError) {
            switch try device.load() {
            case .some: return true
            case .none: return false
            }
        } catch { return true }
    }
}
