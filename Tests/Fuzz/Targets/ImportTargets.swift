// Files of other programs, and the messages of the process that reads them.

import OMInterchange
import OMItems
import OMSecrets

@testable import OMAgent

enum ImportTargets {
    static let all = [
        FuzzTarget(name: "import-csv") { bytes in
            read(bytes, as: .csv)
            guard let map = CSVMap(parsing: bytes.span) else { return }
            precondition(CSVMap(parsing: map.text.utf8Span.span) == map, "a map is written as another")
        },
        FuzzTarget(name: "import-bitwarden") { bytes in read(bytes, as: .bitwarden) },
        FuzzTarget(name: "import-netrc") { bytes in read(bytes, as: .netrc) },
        // One entry is packed, as the command packs it; and the form itself is read.
        FuzzTarget(name: "import-pass") { bytes in
            read(bytes, as: .pass)
            var store = ForeignStore()
            try? store.append("folder/name", SecretBytes(copying: bytes))
            read(store.finish().withBytes { form in form.indices.map { form[$0] } }, as: .pass)
        },
        // The first byte says whether the rest is a ZIP file, or the JSON in one.
        FuzzTarget(name: "import-1pux") { bytes in
            let rest = Array(bytes.dropFirst())
            guard bytes.first != UInt8(ascii: "{") else { return read(stored(bytes), as: .onePassword) }
            read(rest, as: .onePassword)
        },
        // The first byte chooses what is read.
        FuzzTarget(name: "import-reply") { bytes in
            guard let first = bytes.first else { return }
            let message = Array(bytes.dropFirst())
            guard first == ImportReply.entryCode else {
                guard let reply = try? ImportReply(decoding: message.span) else { return }
                precondition((try? ImportReply(decoding: reply.encoded.span)) == reply, "a reply is written as another")
                return
            }
            _ = try? ImportEntryHead(decoding: message.span)
        },
    ]

    /// A ZIP file with this content of `export.data`, stored, with a right check value.
    private static func stored(_ data: [UInt8]) -> [UInt8] {
        let name = Array("export.data".utf8)
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in data {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        func little(_ number: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
        let facts =
            little(20, 2) + little(0, 8) + little(Int(~crc), 4) + little(data.count, 4) + little(data.count, 4)
            + little(name.count, 2) + little(0, 2)
        let local = [0x50, 0x4B, 3, 4] + facts + name + data
        let directory = [0x50, 0x4B, 1, 2] + little(20, 2) + facts + little(0, 14 - 2) + little(0, 2) + name
        let end = [0x50, 0x4B, 5, 6] + little(0, 4) + little(1, 2) + little(1, 2) + little(directory.count, 4)
        return local + directory + end + little(local.count, 4) + little(0, 2)
    }

    /// Each entry that is read fits.
    private static func read(_ bytes: [UInt8], as format: ForeignFormat) {
        _ = try? ForeignFormat.recognised(in: bytes.span)
        guard let reader = try? ForeignReader(SecretBytes(copying: bytes), as: format) else { return }
        // Without a password no slow key is made.
        let key = ForeignKey(password: nil)
        var fitter = EntryFitter(prefix: "", fallback: "entry", tags: [])
        _ = try? reader.read(with: key, variables: { _ throws(InterchangeError) in throw .otherFormat }) { entry in
            for item in fitter.items(for: entry) {
                guard (try? ItemName(item.name.text)) != nil else { fatalError("a name that no item can have") }
                for field in item.fields {
                    guard (try? FieldName(field.name.text)) != nil else { fatalError("a name that no field can have") }
                }
                for tag in item.tags {
                    guard (try? ItemTag(tag.text)) != nil else { fatalError("a tag that no item can have") }
                }
            }
        }
    }
}
