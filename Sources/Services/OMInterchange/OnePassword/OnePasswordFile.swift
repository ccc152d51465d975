internal import OMSecrets

/// A file that an item of 1Password has.
struct OnePasswordFile {
    /// The first part of its name in the export.
    let id: String
    let name: String

    /// - Parameter title: Its name, if it has none.
    init(_ file: JSONRanges, _ title: String, _ bytes: Span<UInt8>) {
        id = file["documentId"]?.text(in: bytes) ?? ""
        let name = file["fileName"]?.text(in: bytes) ?? ""
        self.name = name.isEmpty ? (title.isEmpty ? "file" : title) : name
    }
}
