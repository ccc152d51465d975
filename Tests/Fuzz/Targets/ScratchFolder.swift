// Files of one run, in memory.

import Glibc

enum ScratchFolder {
    static let path = "/dev/shm/omvault-fuzz-\(getpid())"

    /// An empty folder, removed afterwards.
    static func run(_ body: (String) -> Void) {
        _ = mkdir(path, 0o700)
        body(path)
        remove(path)
    }

    static func write(_ bytes: [UInt8], to path: String) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        defer { close(descriptor) }
        _ = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }

    static func read(_ path: String) -> [UInt8] {
        let descriptor = open(path, O_RDONLY)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var all: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while case let got = Glibc.read(descriptor, &piece, piece.count), got > 0 { all += piece.prefix(got) }
        return all
    }

    /// The content of a folder. Empty if there is no folder.
    static func names(_ folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    static func remove(_ folder: String) {
        for name in names(folder) where unlink("\(folder)/\(name)") != 0 { remove("\(folder)/\(name)") }
        rmdir(folder)
    }
}
