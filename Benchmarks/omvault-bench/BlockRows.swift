// Throughput on blocks of 16 KiB, beside `openssl speed`.

internal import OMCrypto
internal import OMSecrets

enum BlockRows {
    static let count = 16 << 10

    static func all(_ options: Options) -> [Row] {
        [
            row("SHA-256", options, "sha256") { () throws(BenchError) in try digest(.sha256) },
            row("SHA-512", options, "sha512") { () throws(BenchError) in try digest(.sha512) },
            row("AES-256-GCM", options, "aes-256-gcm") { () throws(BenchError) in try sealing(.aesGCM) },
            row("ChaCha20-Poly1305", options, "chacha20-poly1305") { () throws(BenchError) in
                try sealing(.chacha20Poly1305)
            },
            // `openssl speed` encrypts one endless message. In these rows both sides seal messages of 16 KiB, each with a tag.
            messages("AES-256-GCM", .aesGCM, "AES-256-GCM"),
            messages("ChaCha20-Poly1305", .chacha20Poly1305, "ChaCha20-Poly1305"),
            row("AES-256-CBC", options, "aes-256-cbc") { () throws(BenchError) in try encryption(.aesCBC, keyCount: 32)
            },
            row("3DES-CBC", options, "des-ede3-cbc") { () throws(BenchError) in
                try encryption(BlockAlgorithm(.insecureTripleDES, .cbc), keyCount: 24)
            },
        ]
    }

    /// - Parameters:
    ///   - name: The algorithm's name for `openssl speed -evp`.
    ///   - ours: Measures our rate.
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

    private static func messages(_ title: String, _ algorithm: AEADAlgorithm, _ name: String) -> Row {
        Row(
            name: "\(title), 16 KiB messages", unit: .rate("B"), asked: .ratio(0.95),
            ours: .init(label: "AuthenticatedSealer") { () throws(BenchError) in try sealing(algorithm) },
            peer: .init(label: "EVP_Encrypt…") { () throws(BenchError) in try BareCipher.rate(name) })
    }

    private static func digest(_ algorithm: DigestAlgorithm) throws(BenchError) -> Double {
        guard var digest = try? Digest(algorithm) else { throw BenchError("OpenSSL has no \(algorithm)") }
        let block = [UInt8](repeating: 0x5A, count: count)
        return try Clock.rate(each: count) { () throws(BenchError) in
            digest.update(block.span)
            _ = digest.finish()
        }
    }

    private static func sealing(_ algorithm: AEADAlgorithm) throws(BenchError) -> Double {
        let block = [UInt8](repeating: 0x5A, count: count)
        var sealed = [UInt8](repeating: 0, count: count + AuthenticatedCipher.tagCount)
        var nonce = [UInt8](repeating: 0, count: 12)
        guard var sealer = try? AuthenticatedSealer(algorithm, key: SecretBytes.random(32)) else {
            throw BenchError("OpenSSL has no \(algorithm)")
        }
        return try Clock.rate(each: count) { () throws(BenchError) in
            for index in nonce.indices.reversed() {
                nonce[index] &+= 1
                if nonce[index] != 0 { break }
            }
            var target = sealed.mutableSpan
            guard (try? sealer.seal(block.span, nonceNeverUsedBefore: nonce, into: &target)) != nil else {
                throw BenchError("\(algorithm) does not seal")
            }
        }
    }

    private static func encryption(_ algorithm: BlockAlgorithm, keyCount: Int) throws(BenchError) -> Double {
        let block = [UInt8](repeating: 0x5A, count: count)
        var output = [UInt8](repeating: 0, count: count + algorithm.blockCount)
        let cipher = try? BlockCipher(
            .encrypt, unauthenticated: algorithm, key: SecretBytes.random(keyCount),
            iv: Random.bytes(algorithm.blockCount), padding: .none)
        guard var cipher else { throw BenchError("OpenSSL has no such cipher") }
        return try Clock.rate(each: count) { () throws(BenchError) in
            var target = output.mutableSpan
            guard (try? cipher.update(block.span, into: &target)) != nil else {
                throw BenchError("it does not encrypt")
            }
        }
    }
}

/// `openssl speed` with machine-readable output.
struct OpenSSLSpeed {
    private let options: Options

    init(_ options: Options) { self.options = options }

    /// The bytes per second of the last line, `+F:25:aes-256-cbc:1234567890.00`. For a public-key line, the operations.
    ///
    /// - Parameter field: The position of the number, counted from the end; 0 is the last.
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
