// The names of remotes in a folder. Format: docs/formats/sync.md, "Remote".

internal import Glibc
internal import OMParcels
package import OMSystem

/// The names of a remote's folder.
package struct RemoteFolderName: Hashable, Sendable {
    /// The vault's id. Both have 16 bytes.
    package let vault: [UInt8]
    package let incarnation: [UInt8]

    package init(vault: [UInt8], incarnation: [UInt8]) { (self.vault, self.incarnation) = (vault, incarnation) }

    package var text: String { RemoteFile.folder(vault: vault, incarnation: incarnation) }

    /// - Returns: nil for the name of another folder.
    package init?(_ text: String) {
        let digits = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false).suffix(2)
            .map { Self.bytes(Array($0)) }
        guard digits.count == 2, let vault = digits[0], let incarnation = digits[1] else { return nil }
        self.init(vault: vault, incarnation: incarnation)
        // A folder has one name.
        guard text == self.text else { return nil }
    }

    private static func bytes(_ digits: [UInt8]) -> [UInt8]? {
        guard digits.count == 32 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: 32, by: 2) {
            guard let byte = UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    /// More remotes than a folder has. Each is looked into.
    private static let maximum = 1000

    /// The remotes in a folder, in any order.
    ///
    /// - Throws: ``StorageError/missing`` if the folder is not there.
    package static func all(in folder: String) throws(StorageError) -> [RemoteFolderName] {
        guard let stream = opendir(folder) else { throw .last }
        defer { closedir(stream) }
        var found: [RemoteFolderName] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw .last }
                return found
            }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { name in
                String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let name = RemoteFolderName(name) else { continue }
            found.append(name)
            guard found.count <= maximum else { throw .io(EOVERFLOW) }
        }
    }
}
