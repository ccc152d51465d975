internal import OMSecrets

/// A file that an item of 1Password has.
struct OnePasswordFile {
    /// The first part of its name in the export.
    let id: String
    /// Its whole name in the export. Empty if only its id is given.
    let path: String
    let name: String

    /// - Parameter title: Its name, if it has none.
    init(_ file: JSONRanges, _ title: String, _ bytes: Span<UInt8>) {
        // An item's own file has another form than the file of a field.
        let attributes = file["attrs"]
        id = (file["documentId"] ?? attributes?["uuid"])?.text(in: bytes) ?? ""
        path = file["path"]?.text(in: bytes) ?? ""
        let name = (file["fileName"] ?? attributes?["name"])?.text(in: bytes) ?? ""
        self.name = name.isEmpty ? (title.isEmpty ? "file" : title) : name
    }
}
