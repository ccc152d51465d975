// Throughput on blocks of 16 KiB, beside `openssl speed`.

internal import OMCrypto

enum BlockRows {
    static let count = 16 << 10

    static func all(_ options: Options) -> [Row] {
        [
            row("SHA-256", options, "sha256") { () throws(BenchError) in try digest(.sha256) },
            row("SHA-512", options, "sha512") { () throws(BenchError) in try digest(.sha512) },
        ]
    }

    /// - Parameters:
    ///   - name: What `openssl speed -evp` calls it.
    ///   - ours: Makes the function that handles one block, with its key set already.
    static func row(
        _ title: String, _ options: Options, _ name: String, ours: @escaping () throws(BenchError) -> Double
    ) -> Row {
        Row(
            name: "\(title), 16 KiB blocks", unit: .rate("B"), asked: .ratio(0.95),
            ours: .init(label: "OMCrypto", measure: ours),
            peer: .init(label: "openssl speed") { () throws(BenchError) in
                try OpenSSLSpeed(options).rate(["-evp", name, "-bytes", String(count)])
            })
    }

    private static func digest(_ algorithm: DigestAlgorithm) throws(BenchError) -> Double {
        guard var digest = try? Digest(algorithm) else { throw BenchError("OpenSSL has no \(algorithm)") }
        let block = [UInt8](repeating: 0x5A, count: count)
        return try Clock.rate(each: count) { () throws(BenchError) in
            digest.update(block.span)
            _ = digest.finish()
        }
    }
}

/// `openssl speed`, as a machine reads it.
struct OpenSSLSpeed {
    private let options: Options

    init(_ options: Options) { self.options = options }

    /// Bytes a second of the last line, `+F:25:aes-256-cbc:1234567890.00`; of a public-key line the operations.
    ///
    /// - Parameter field: Which number from the end; 0 is the last.
    func rate(_ arguments: [String], field: Int = 0) throws(BenchError) -> Double {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let text = try Program(path: options.openssl).output(["speed", "-mr", "-seconds", "1"] + arguments, in: folder)
        let line = text.split(separator: "\n").last { $0.hasPrefix("+F") }
        let parts = line?.split(separator: ":") ?? []
        guard parts.count > field, let rate = Double(parts[parts.count - 1 - field]) else {
            throw BenchError("openssl speed printed no rate")
        }
        return rate
    }
}
