// The files beside a vector file: an ACVP prompt's expected results, or the keys that an index of key files names.

internal import FoundationEssentials

struct CompanionFiles: Sendable {
    /// The folder and the name of the vector file. Nil if the vectors are not in a file, as in a fuzzer.
    private let place: (folder: String, name: String)?

    /// Expected results that are not in a file.
    private let results: [UInt8]?

    static let none = CompanionFiles(place: nil, results: nil)

    private init(place: (folder: String, name: String)?, results: [UInt8]?) {
        (self.place, self.results) = (place, results)
    }

    init(of path: String) {
        let url = URL(filePath: path)
        self.init(place: (url.deletingLastPathComponent().path, url.lastPathComponent), results: nil)
    }

    /// For a prompt in memory.
    init(expectedResults: [UInt8]) { self.init(place: nil, results: expectedResults) }

    /// The file that `name` means, a path below the folder of the vector file.
    ///
    /// Attack: a vector file names `../../etc/shadow`, so that this process reads it and shows its length.
    ///
    /// - Throws: ``UnreadableFile`` for a path that leads elsewhere, and for a file that is missing, not regular or too large.
    func bytes(_ name: String) throws(UnreadableFile) -> [UInt8] {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        let isBelow = !parts.contains("..") && !parts.contains(".") && !parts.contains("") && !name.utf8.contains(0)
        guard isBelow else { throw UnreadableFile("the path “\(name.prefix(60))” leads elsewhere") }
        guard let place else { throw UnreadableFile("“\(name.prefix(60))” is not beside the file") }
        return try VectorFile.bytes(below: place.folder, name)
    }

    /// The names of an ACVP prompt and its expected results: those of NIST's server, of its client, and our own.
    private static let pairs = [
        ("prompt", "expectedResults"), ("prompt", "expected"), ("request", "expected"), (".json", ".expected.json"),
    ]

    /// An ACVP prompt's expected results: `NAME.expected.json` beside `NAME.json`, `expectedResults.json` beside
    /// `prompt.json`, `testvector-expected.json` beside `testvector-request.json`.
    func expectedResults() throws(UnreadableFile) -> [UInt8]? {
        guard let place, place.name.hasSuffix(".json") else { return results }
        for (prompt, expected) in Self.pairs where place.name.contains(prompt) {
            let name = place.name.replacing(prompt, with: expected)
            if exists(name) { return try bytes(name) }
        }
        return nil
    }

    /// Whether this file holds expected results and its prompt is beside it.
    var hasPrompt: Bool {
        guard let place else { return false }
        return Self.pairs.contains { prompt, expected in
            place.name.contains(expected) && exists(place.name.replacing(expected, with: prompt))
        }
    }

    /// Whether the file has the name that NIST's server gives to prompt and results in one file.
    var isProjection: Bool { place?.name.contains("internalProjection") ?? false }

    private func exists(_ name: some StringProtocol) -> Bool {
        place.map { FileManager.default.fileExists(atPath: "\($0.folder)/\(name)") } ?? false
    }
}
