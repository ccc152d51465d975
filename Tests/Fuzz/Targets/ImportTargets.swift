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
