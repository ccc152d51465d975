// The condition of a vault's file, as far as no password is needed.

internal import Glibc
internal import OMStorage
internal import OMVault

/// The condition of a vault, read from its file and from this device's marks. Nothing is unlocked or changed.
struct VaultCondition {
    /// Whether there is a file.
    let isThere: Bool
    /// Whether this device made or restored it. Nil if the file cannot be read.
    let isOwnDevice: Bool?
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
            (isOwnDevice, problem, isReplaced, isPurgePending) = (nil, nil, false, false)
            return
        }
        do throws(VaultError) {
            let file = try VaultFile.open(path, device: device)
            (isOwnDevice, problem, isReplaced) = (file.isOwnDevice, nil, file.isReplaced)
        } catch {
            (isOwnDevice, problem) = (nil, Failure(error, vault: name))
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
