// How much of a file has come so far. Both ends of an import count, and stop at the same bounds.

internal import OMInterchange
internal import OMItems
internal import OMSecrets

struct ImportTotals {
    private(set) var entries = 0
    private var (values, names, fields) = (0, 0, 0)

    /// The most bytes of names of a file: of entries, folders, tags, fields and losses.
    static let maximumNames = 64 << 20
    /// The most fields of a file.
    static let maximumFields = 1_000_000

    /// - Parameter head: How many bytes its names take.
    /// - Throws: ``InterchangeError/tooMuch(_:)``.
    mutating func add(_ entry: ForeignEntry, head: Int) throws(InterchangeError) {
        entries += 1
        values += entry.fields.reduce(0) { $0 + $1.value.count }
        names += head
        fields += entry.fields.count
        guard entries <= ForeignReader.maximumEntries else { throw .tooMuch("entries") }
        guard values <= ForeignReader.maximumTotal, entry.fields.allSatisfy({ $0.value.count <= Item.maximumFieldCount }) else {
            throw .tooMuch("bytes of values")
        }
        guard names <= Self.maximumNames else { throw .tooMuch("bytes of names") }
        guard fields <= Self.maximumFields else { throw .tooMuch("fields") }
    }
}
