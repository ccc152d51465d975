// A file that cannot be read makes place, and is kept: somebody may want to know what happened to it.

internal import Glibc
package import OMSystem

/// What became of a file that could not be read.
public struct DamagedFile: Hashable, Sendable {
    /// Where it is now.
    public let path: String
    /// Where older ones were that had to go for it.
    public let removed: [String]

    package init(path: String, removed: [String]) { (self.path, self.removed) = (path, removed) }
}

extension Database {
    /// Gives a file that cannot be read, and its log, another name: `PATH.damaged-` and the time.
    ///
    /// - Parameters:
    ///   - wall: seconds since 1970.
    ///   - most: how many such files are kept, with this one; the oldest go.
    package static func renameDamaged(_ path: String, at wall: Int64, keeping most: Int = 4) throws(StorageError) -> DamagedFile {
        let prefix = Self.prefix(path)
        var (aside, number) = (prefix + stamp(wall), 1)
        while try FilePath.exists(aside) {
            number += 1
            aside = "\(prefix)\(stamp(wall))-\(number)"
        }
        // The log first: beside another file of this name it would be taken for that one's.
        for end in ["-wal", "-shm", ""] {
            guard rename(path + end, aside + end) == 0 || errno == ENOENT else { throw .last }
        }
        try syncFolder(above: path)
        return DamagedFile(path: aside, removed: try removeOldest(for: path, but: aside, keeping: most))
    }

    /// Where the files are that were set aside for `path`, the oldest first.
    package static func damagedFiles(for path: String) throws(StorageError) -> [String] {
        let prefix = Self.prefix(path)
        let folder: PrivateFolder
        do throws(StorageError) { folder = try PrivateFolder(FilePath.folder(of: prefix)) } catch {
            guard error == .missing else { throw error }
            return []
        }
        // Names in order are times in order.
        return try folder.names().map { folder.file($0) }.filter { file in
            file.hasPrefix(prefix) && !file.hasSuffix("-wal") && !file.hasSuffix("-shm")
        }.sorted()
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
