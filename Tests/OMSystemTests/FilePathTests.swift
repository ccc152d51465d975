import OMSystem
import Testing

@Suite("Paths") struct FilePathTests {
    @Test(
        "a path is its folder and its name",
        arguments: [
            ("/a/b", "/a", "b"), ("/a", "/", "a"), ("a", ".", "a"), ("a/b/", "a/b", ""), ("", ".", ""),
            // One character to Swift: a slash, and an accent that belongs to the name.
            ("/a/\u{301}b", "/a", "\u{301}b"),
        ])
    func parts(path: String, folder: String, name: String) {
        #expect(FilePath.folder(of: path) == folder)
        #expect(FilePath.name(of: path) == name)
    }

    @Test("a path's names are the parts between its slashes")
    func names() {
        #expect(FilePath.names(in: "/a//\u{301}b/c/") == ["a", "\u{301}b", "c"])
        #expect(FilePath.names(in: "/") == [])
    }
}
