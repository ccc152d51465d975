// What a remote holds, read and not yet trusted. Format: docs/formats/sync.md, "Remote".

internal import OMSecrets

/// Reads the files of a remote.
package protocol RemoteFiles {
    associatedtype Failure: Error
    /// The files that are there, in any order.
    func files() throws(Failure) -> [RemoteFile]
    /// - Returns: nil if the file is not there, or has more bytes than it can have.
    func bytes(of file: RemoteFile) throws(Failure) -> [UInt8]?
}

/// Reads and writes the files of a remote.
package protocol RemoteStore: RemoteFiles {
    /// Writes a file whole: a reader sees all of it or none.
    func write(_ bytes: [UInt8], to file: RemoteFile) throws(Failure)
    /// - Returns: false if there is none.
    @discardableResult
    func remove(_ file: RemoteFile) throws(Failure) -> Bool
}

/// All entries and heads of a remote. A torn, half-written or missing file is "not there yet", so it is left out.
package struct RemoteContents: Hashable, Sendable {
    /// Entry 0 of the roll. Nil if there is no remote here: an unmounted folder is not an empty one.
    package private(set) var founding: RollEntry?
    package private(set) var entries: [RollEntry] = []
    /// The digests of entries that a later omvault wrote.
    package private(set) var laterEntries: Set<[UInt8]> = []
    /// Those in each device's own folder, by falling number.
    package private(set) var heads: [UInt32: [Head]] = [:]
    /// Those that sync tools copied.
    package private(set) var copies: [Head] = []
    /// Those that devices keep for others.
    package private(set) var kept: [Head] = []

    /// - Parameter vault: The vault's id: 16 bytes.
    package init<Files: RemoteFiles>(reading files: Files, vault: [UInt8]) throws(Files.Failure) {
        for file in try files.files() {
            // Packs are read once a head lists them.
            if case .pack = file { continue }
            if case .message = file { continue }
            guard let bytes = try files.bytes(of: file) else { continue }
            take(bytes, of: file, vault)
        }
        for device in heads.keys { heads[device]?.sort { $0.statement.number > $1.statement.number } }
    }

    private mutating func take(_ bytes: [UInt8], of file: RemoteFile, _ vault: [UInt8]) {
        switch file {
        case .founding:
            guard let entry = try? RollEntry(decoding: bytes), entry.contents.number == 0, entry.contents.vault == vault else {
                return
            }
            founding = entry
        case .entry(let number, let digest):
            guard PublicHash.hash(bytes) == digest else { return }
            do {
                let entry = try RollEntry(decoding: bytes)
                if entry.contents.number == number { entries.append(entry) }
            } catch {
                if error == .laterFormat { laterEntries.insert(digest) }
            }
        case .head(let device, _):
            guard let head = try? Head(decoding: bytes), head.statement.device == device else { return }
            heads[device, default: []].append(head)
        case .headCopy(let device, _):
            guard let head = try? Head(decoding: bytes), head.statement.device == device else { return }
            copies.append(head)
        case .heads:
            guard let list = try? HeadList(decoding: bytes), list.vault == vault else { return }
            kept += list.heads
        case .pack, .message: break
        }
    }

    /// All heads by their digests, for walks.
    package var headsByDigest: [[UInt8]: Head] {
        Dictionary((heads.values.joined() + copies + kept).map { ($0.digest, $0) }) { first, _ in first }
    }
}
