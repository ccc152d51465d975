// The reader of a store of pass or gopass, which the command has decrypted and packed.

internal import OMRecords
internal import OMSecrets

enum PassReader {
    static func read(
        _ secret: borrowing SecretBytes, _ take: (ForeignEntry) throws(InterchangeError) -> Void
    ) throws(InterchangeError) -> ForeignSummary {
        try secret.withBytes { (bytes: Span<UInt8>) throws(InterchangeError) in try read(bytes, take) }
    }

    private static func read(
        _ bytes: Span<UInt8>, _ take: (ForeignEntry) throws(InterchangeError) -> Void
    ) throws(InterchangeError) -> ForeignSummary {
        guard bytes.starts(with: ForeignStore.magic) else { throw .otherFormat }
        var cursor = ByteCursor()
        var count = 0
        do throws(MalformedBytes) { _ = try cursor.skip(ForeignStore.magic.count, in: bytes) } catch { throw .otherFormat }
        while let (path, content) = try next(&cursor, bytes) {
            count += 1
            guard count <= ForeignReader.maximumEntries else { throw .tooMuch("entries") }
            try take(PassEntry.read(path, bytes.extracting(content)))
        }
        return ForeignSummary()
    }

    /// The next entry's name and the place of its bytes. Nil at the end.
    private static func next(
        _ cursor: inout ByteCursor, _ bytes: Span<UInt8>
    ) throws(InterchangeError) -> (String, Range<Int>)? {
        do throws(MalformedBytes) {
            guard try cursor.number(UInt8.self, in: bytes) == ForeignStore.entryCode else {
                try cursor.end(in: bytes)
                return nil
            }
            let count = Int(try cursor.number(UInt16.self, in: bytes))
            let path = try cursor.text(count, in: bytes)
            let size = Int(try cursor.number(UInt32.self, in: bytes))
            return (path, try cursor.skip(size, in: bytes))
        } catch { throw .damaged("its packed form") }
    }
}
