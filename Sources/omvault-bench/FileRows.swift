// Whole files, from the page cache: the file was just written, and both programs read it in turn.

enum FileRows {
    static func all(_ options: Options, _ folder: TemporaryFolder) -> [Row] {
        [
            Row(
                name: "hash of a file, \(options.fileMiB) MiB", unit: .time, asked: .ratio(1.1),
                ours: .init(label: "omvault crypto hash") { () throws(BenchError) in
                    guard let path = options.omvault else { throw BenchError("--omvault PATH is not given") }
                    return try Program(path: path).time(
                        ["crypto", "hash", "--alg", "sha256", try file(options, folder)])
                },
                peer: .init(label: "openssl dgst") { () throws(BenchError) in
                    try Program(path: options.openssl).time(["dgst", "-sha256", try file(options, folder)])
                })
        ]
    }

    nonisolated(unsafe) private static var made: String?

    /// The large file, made when the first row asks for it.
    static func file(_ options: Options, _ folder: TemporaryFolder) throws(BenchError) -> String {
        if let made { return made }
        var block = [UInt8](repeating: 0, count: 1 << 20)
        for index in block.indices { block[index] = UInt8(truncatingIfNeeded: index &* 2_654_435_761 >> 13) }
        let path = try folder.write("large", block, times: options.fileMiB)
        made = path
        return path
    }
}
