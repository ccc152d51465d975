// Checking and opening the records of one level. It has keys but no database, so that several threads can share it.

internal import OMItems
internal import OMRecords
internal import OMSecrets
internal import OMSystem

/// Opens records. A value of one state of the vault: its format, and the keys of one level.
struct RecordOpener: Sendable {
    private let vault: [UInt8]
    private let level: ProtectionLevel
    private let keys: LevelKeys
    private let format: UInt32
    private let interruption: Interruption?

    init(
        vault: [UInt8], _ level: ProtectionLevel, _ keys: LevelKeys, format: UInt32, unless interruption: Interruption?
    ) {
        (self.vault, self.level, self.keys) = (vault, level, keys)
        (self.format, self.interruption) = (format, interruption)
    }

    static func context(_ vault: [UInt8], _ header: Record.Header) -> Context {
        Context(.record, .bytes(vault), .bytes(header.encoded))
    }

    /// Opens a record's box.
    func plaintext(_ record: Record) throws(VaultError) -> SecretBytes {
        let key = keys.recordKey(record.header)
        return try authentic(.record) { () throws(SecretsError) in
            try AEAD.open(SealedBox(stored: record.box), using: key, context: Self.context(vault, record.header))
        }
    }

    /// Opens a version that another version led to.
    func open(_ version: StoredVersion) throws(VaultError) -> OpenedVersion {
        OpenedVersion(
            header: version.header, content: try ItemContent(opened: try plaintext(version.record), format: format))
    }

    /// Opens the version at an entry. Its content must belong at this entry.
    func open(_ version: StoredVersion, at entry: TreeEntry) throws(VaultError) -> OpenedVersion {
        let opened = try open(version)
        guard opened.content.key(keys, opened.header.id) == entry.key else { throw .corrupt(.record) }
        return opened
    }

    /// Checks and opens the newest versions in the rows of a batch.
    func open(_ batch: RecordBatch) throws(VaultError) -> OpenedBatch {
        // A row has more bytes than its content with the head in front.
        var contents = SecretBuffer(capacity: batch.bytes.count)
        var ends: [Int] = []
        ends.reserveCapacity(batch.entries.count)
        var start = 0
        for (entry, end) in zip(batch.entries, batch.ends) {
            if interruption?.isAsked == true { throw .storage(.busy) }
            let row = batch.bytes.span.extracting(start..<end)
            let (header, box) = try StoredVersion.parts(of: row, entry.digest, level)
            if !header.isDeleted {
                contents.append(VersionHead(header).encoded.span)
                try append(row.extracting(box), header, at: entry, to: &contents)
            }
            ends.append(contents.count)
            start = end
        }
        return OpenedBatch(entries: batch.entries, ends: ends, contents: contents, long: batch.long)
    }

    /// Opens the box of one of many records. Its content must belong at the entry.
    private func append(
        _ box: Span<UInt8>, _ header: Record.Header, at entry: TreeEntry, to contents: inout SecretBuffer
    ) throws(VaultError) {
        let key = keys.recordKey(header)
        let context = Self.context(vault, header)
        try contents.append(upTo: box.count - Record.boxOverhead) { (target: inout MutableSpan<UInt8>) throws(VaultError) in
            do throws(SecretsError) { try AEAD.open(box, using: key, context: context, into: &target) } catch {
                throw .corrupt(.record)
            }
            guard try ItemContent.key(ofOpened: target.span, format: format, keys, header.id) == entry.key else {
                throw .corrupt(.record)
            }
            return ContentMap.length(target.span)
        }
    }
}
