// Setting a damaged file aside. It is kept, because the user may want to find out what happened to it.

internal import Glibc
package import OMSystem

/// The result of setting a damaged file aside.
public struct DamagedFile: Hashable, Sendable {
    /// The file's new path.
    public let path: String
    /// The paths of older damaged files that were removed to limit their number.
    public let removed: [String]

    package init(path: String, removed: [String]) { (self.path, self.removed) = (path, removed) }
}

extension Database {
    /// Renames a file that cannot be read, and its log, to `PATH.damaged-` and the time.
    ///
    /// - Parameters:
    ///   - wall: Seconds since 1970.
    ///   - most: How many such files are kept, including this one. The oldest are removed.
    package static func renameDamaged(_ path: String, at wall: Int64, keeping most: Int = 4) throws(StorageError) -> DamagedFile {
        let prefix = Self.prefix(path)
        var (aside, number) = (prefix + stamp(wall), 1)
        while try FilePath.exists(aside) {
            number += 1
            aside = "\(prefix)\(stamp(wall))-\(number)"
        }
        // The log is renamed first. Otherwise SQLite would take it for the log of a new file with this name.
        for end in ["-wal", "-shm", ""] {
            guard rename(path + end, aside + end) == 0 || errno == ENOENT else { throw .last }
        }
        try syncFolder(above: path)
        return DamagedFile(path: aside, removed: try removeOldest(for: path, but: aside, keeping: most))
    }

    /// The paths of the files that were set aside for `path`, the oldest first.
    package static func damagedFiles(for path: String) throws(StorageError) -> [String] {
        let prefix = Self.prefix(path)
        let folder: PrivateFolder
        do throws(StorageError) { folder = try PrivateFolder(FilePath.folder(of: prefix)) } catch {
            guard error == .missing else { throw error }
            return []
        }
        // A log may be there without its file. The names contain the time, so their order is the order of the times.
        let files = try folder.names().map { folder.file($0) }.filter { $0.hasPrefix(prefix) }
        return Set(files.map { $0.hasSuffix("-wal") || $0.hasSuffix("-shm") ? String($0.dropLast(4)) : $0 }).sorted()
    }

    private static func prefix(_ path: String) -> String { "\(path).damaged-" }

    private static func removeOldest(
        for path: String, but newest: String, keeping most: Int
    ) throws(StorageError) -> [String] {
        let older = try damagedFiles(for: path).filter { $0 != newest }
        let removed = Array(older.prefix(max(0, older.count + 1 - most)))
        for file in removed {
            for end in ["-wal", "-shm", ""] {
                guard unlink(file + end) == 0 || errno == ENOENT else { throw .last }
            }
        }
        return removed
    }

    /// `20261122T081500Z`
    private static func stamp(_ wall: Int64) -> String {
        var (time, parts) = (time_t(wall), tm())
        var text = [CChar](repeating: 0, count: 32)
        gmtime_r(&time, &parts)
        let count = strftime(&text, text.count, "%Y%m%dT%H%M%SZ", &parts)
        return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
