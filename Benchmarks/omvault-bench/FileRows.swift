// Whole files from the page cache: this program has just written the file, and both programs read it in turn.

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
                }),
            Row(
                name: "encryption of a file, \(options.fileMiB) MiB", unit: .time, asked: .ratio(1.0),
                ours: .init(label: "omvault crypto encrypt") { () throws(BenchError) in
                    guard let path = options.omvault else { throw BenchError("--omvault PATH is not given") }
                    return try Program(path: path).time(
                        [
                            "crypto", "encrypt", "--recipient", recipientHex, "--force", "-i",
                            try file(options, folder),
                            "-o", try file(options, folder) + ".omvf",
                        ])
                },
                peer: .init(label: "age -r") { () throws(BenchError) in
                    try Program(path: options.age).time(
                        ["-r", ageRecipient, "-o", try file(options, folder) + ".age", try file(options, folder)])
                }),
        ]
    }

    /// Bob's key of RFC 7748 section 6.1, in both forms. The files made here are never opened.
    private static let recipientHex = "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"
    private static let ageRecipient = "age1m60dkltm0hqmf56mv8pweep4xulcxs7gtduxwnddl3lpgmug9d8s0dmj33"

    nonisolated(unsafe) private static var made: String?

    /// The large file. It is made when the first row asks for it.
    static func file(_ options: Options, _ folder: TemporaryFolder) throws(BenchError) -> String {
        if let made { return made }
        var block = [UInt8](repeating: 0, count: 1 << 20)
        for index in block.indices { block[index] = UInt8(truncatingIfNeeded: index &* 2_654_435_761 >> 13) }
        let path = try folder.write("large", block, times: options.fileMiB)
        made = path
        return path
    }
}
