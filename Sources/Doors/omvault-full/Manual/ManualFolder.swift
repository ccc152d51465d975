internal import Glibc
internal import OMShell
internal import OMSystem

/// The folder that gets pages of the manual.
struct ManualFolder {
    private let path: String

    init(_ path: String) { self.path = path }

    /// Writes each page at its path below the folder. Makes the folders that are missing.
    ///
    /// - Throws: ``ExitStatus/exists`` if a page is there and `replacing` is false. Then nothing was written.
    func write(_ pages: [(path: String, text: String)], replacing: Bool) throws(Failure) {
        for page in pages { _ = try OutputFile(file(page.path), replacing: replacing) }
        for page in pages {
            try Self.make(FilePath.folder(of: file(page.path)))
            var target = try OutputFile(file(page.path), replacing: replacing, isPublic: true)
            try target.write(page.text.utf8Span.span)
            try target.finish()
        }
    }

    private func file(_ name: String) -> String { "\(path)/\(name)" }

    private static func make(_ folder: String) throws(Failure) {
        var made = FilePath.isAbsolute(folder) ? "" : "."
        for name in FilePath.names(in: folder) {
            made += "/" + name
            guard mkdir(made, 0o755) == 0 || errno == EEXIST else {
                throw Failure(.io, "cannot make the folder \"\(made)\"", errno: errno)
            }
        }
    }
}
