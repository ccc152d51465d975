// A ZIP file in memory, read by libzip. It opens no file, and writes none: a name in it is only looked up.

internal import CZip
internal import OMSecrets

/// An open archive.
final class ZipArchive {
    /// The bytes must stay where they are while libzip reads them.
    private let bytes: SecretBytes
    private let archive: OpaquePointer
    /// The places of the files, by their names.
    private let places: [String: UInt64]
    /// How many more bytes may come out of all files together.
    private var left: Int

    /// - Parameter most: The most bytes of all files that are read.
    /// - Throws: ``InterchangeError/damaged(_:)``, ``InterchangeError/tooMuch(_:)``.
    init(_ bytes: consuming SecretBytes, atMost most: Int) throws(InterchangeError) {
        let opened = bytes.withBytes { Self.open($0) }
        guard let opened else { throw .damaged("the directory of the ZIP file") }
        do throws(InterchangeError) { places = try Self.places(opened) } catch {
            zip_discard(opened)
            throw error
        }
        archive = opened
        left = most
        self.bytes = bytes
    }

    deinit { zip_discard(archive) }

    private static func open(_ bytes: Span<UInt8>) -> OpaquePointer? {
        bytes.withPointer { base, count in
            guard let source = zip_source_buffer_create(base, UInt64(count), 0, nil) else { return nil }
            guard let archive = zip_open_from_source(source, ZIP_RDONLY, nil) else {
                zip_source_free(source)
                return nil
            }
            return archive
        }
    }

    private static func places(_ archive: OpaquePointer) throws(InterchangeError) -> [String: UInt64] {
        let count = zip_get_num_entries(archive, 0)
        guard count <= ForeignReader.maximumEntries else { throw .tooMuch("files in the ZIP file") }
        var places: [String: UInt64] = [:]
        for place in 0..<UInt64(max(count, 0)) {
            guard let text = zip_get_name(archive, place, 0) else { throw .damaged("a name in the ZIP file") }
            // Attack: of two files of one name each program reads another one.
            guard places.updateValue(place, forKey: String(cString: text)) == nil else {
                throw .damaged("two files of one name in the ZIP file")
            }
        }
        return places
    }

    /// The names of its files, in order. Folders have none.
    var names: [String] { places.keys.filter { !$0.hasSuffix("/") }.sorted() }

    func has(_ name: String) -> Bool { places[name] != nil }

    /// The size that the archive gives for a file. It can lie.
    func size(of name: String) -> Int? { places[name].flatMap { stat($0) }.flatMap { Int(exactly: $0.size) } }

    private func stat(_ place: UInt64) -> zip_stat_t? {
        var stat = zip_stat_t()
        let wanted = UInt64(ZIP_STAT_SIZE | ZIP_STAT_ENCRYPTION_METHOD)
        guard zip_stat_index(archive, place, 0, &stat) == 0, stat.valid & wanted == wanted else { return nil }
        return stat
    }

    /// The whole of a file.
    ///
    /// - Parameter most: Its most bytes.
    /// - Throws: ``InterchangeError/damaged(_:)``, ``InterchangeError/tooMuch(_:)``;
    ///   ``InterchangeError/unsupported(_:remedy:)`` for an encrypted file.
    func read(_ name: String, atMost most: Int) throws(InterchangeError) -> SecretBytes {
        guard let place = places[name], let stat = stat(place) else { throw .damaged("\"\(name)\" in the ZIP file") }
        guard stat.encryption_method == ZIP_EM_NONE else {
            throw .unsupported("an encrypted ZIP file", remedy: "export it again without a password of the ZIP file")
        }
        guard let file = zip_fopen_index(archive, place, 0) else {
            throw .unsupported("how \"\(name)\" is compressed in the ZIP file", remedy: "export it again with 1Password")
        }
        defer { zip_fclose(file) }
        // Memory is taken as bytes come, and not for what the archive announces.
        var content = SecretBuffer(capacity: min(Int(clamping: stat.size), 1 << 16) + 1)
        while true {
            let before = content.count
            try content.append(upTo: 64 << 10) { (room) throws(InterchangeError) in
                let count = room.withPointer { zip_fread(file, $0, UInt64($1)) }
                // At the end libzip compares the check value.
                guard count >= 0 else { throw .damaged("\"\(name)\" in the ZIP file") }
                return Int(count)
            }
            let count = content.count - before
            if count == 0 { return content.finish() }
            left -= count
            // Attack: a few bytes unpack to gigabytes, or many files share the same bytes.
            guard content.count <= most, left >= 0 else { throw .tooMuch("unpacked bytes") }
        }
    }
}
