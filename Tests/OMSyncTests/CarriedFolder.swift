import Foundation
import OMParcels
import OMRemote
import OMSystem
import TestSupport

/// Carries files between the folders of devices as a tool or a stick does: some of them, in any order, perhaps a part only.
struct CarriedFolder {
    let paths: [String]

    /// Copies files of one device to the folder of another one, and removes those that are gone.
    ///
    /// - Parameters:
    ///   - isCarried: Whether a file is carried now.
    ///   - isTorn: Whether only its first half is.
    func carry(from source: Int, to target: Int, _ isCarried: (String) -> Bool, isTorn: (String) -> Bool = { _ in false }) throws
    {
        let (here, there) = (try files(source), try files(target))
        for name in here.sorted() where isCarried(name) && owner(of: name) == owners[source] {
            let bytes = try Data(contentsOf: URL(filePath: "\(paths[source])/\(name)"))
            let to = URL(filePath: "\(paths[target])/\(name)")
            try FileManager.default.createDirectory(at: to.deletingLastPathComponent(), withIntermediateDirectories: true)
            try (isTorn(name) ? bytes.prefix(bytes.count / 2) : bytes).write(to: to)
        }
        for name in there.subtracting(here) where isCarried(name) && owner(of: name) == owners[source] {
            try FileManager.default.removeItem(atPath: "\(paths[target])/\(name)")
        }
    }

    /// Of each folder, the folder name of the device that writes it: 8 hex digits.
    let owners: [String]

    /// The device that writes a file. The first one signed all entries of the roll.
    private func owner(of name: String) -> String {
        name.split(separator: "/").dropLast().last.map(String.init).flatMap { owners.contains($0) ? $0 : nil } ?? owners[0]
    }

    private func files(_ index: Int) throws -> Set<String> {
        let root = paths[index]
        let all = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
        return Set(
            all.filter { name in
                var isFolder: ObjCBool = false
                return FileManager.default.fileExists(atPath: "\(root)/\(name)", isDirectory: &isFolder) && !isFolder.boolValue
            })
    }
}
