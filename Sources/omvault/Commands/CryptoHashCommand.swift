internal import ArgumentParser
internal import Glibc
internal import OMCrypto
internal import OMSecrets

struct CryptoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "crypto",
        abstract: "The toolkit: named algorithms on files and streams.",
        subcommands: [
            CryptoHash.self,
            CryptoEncrypt.self, CryptoDecrypt.self, CryptoWrap.self, CryptoUnwrap.self,
        ])
}

/// `omvault crypto hash`: digests as sha256sum prints them, and the SDK's `{SaltedSHA-256}…` strings.
struct CryptoHash: Verb {
    enum Encoding: String, CaseIterable, ExpressibleByArgument {
        case hex, base64, sdk
    }

    static let configuration = CommandConfiguration(
        commandName: "hash",
        abstract: "Hash files or standard input.",
        discussion: """
            Algorithms: \(DigestAlgorithm.allCases.map(\.name).joined(separator: ", ")).

              omvault crypto hash vault.omv
              omvault crypto hash --alg sha512 --encoding sdk --salt-bits 128 < password

            The SDK's strings are one round of a fast hash. They are here for those who must read or write them; they
            do not protect a password.
            """)

    @OptionGroup var global: GlobalOptions

    @Option(help: ArgumentHelp("The algorithm.", valueName: "name"))
    var alg = DigestAlgorithm.sha256.name

    @Option(help: ArgumentHelp("hex, base64 or sdk; with a salt: sdk.", valueName: "encoding"))
    var encoding: Encoding?

    @Option(help: ArgumentHelp("Make a salt of so many bits, a multiple of 4.", valueName: "bits"))
    var saltBits: Int?

    @Option(help: ArgumentHelp("The salt: upper-case hex digits, hashed and stored as that text.", valueName: "hex"))
    var salt: String?

    @Argument(help: "Files; - is standard input.")
    var files: [String] = ["-"]

    func validate() throws {
        if salt != nil, saltBits != nil { throw ValidationError("--salt and --salt-bits contradict each other") }
        if salt != nil || saltBits != nil, let encoding, encoding != .sdk {
            throw ValidationError("a salt is only stored with --encoding sdk")
        }
    }

    func run(_ door: Door) throws {
        let algorithm = try DigestAlgorithm(named: alg)
        if algorithm.isInsecure {
            door.output.notice("warning: two files with the same \(algorithm.sdkName) hash can be made on purpose")
        }
        let hashes = try files.map { try Hashed(name: $0, text: hash($0, algorithm)) }
        guard door.output.format == .json else {
            for hash in hashes { try door.output.line(line(hash)) }
            return
        }
        var document = JSONDocument()
        document.field("algorithm", .text(algorithm.name))
        document.objects("hashes", hashes) { hash, entry in
            entry.field("file", .text(hash.name))
            entry.field("hash", .text(hash.text))
        }
        try door.output.document(document)
    }

    private struct Hashed {
        let name: String
        let text: String
    }

    /// As sha256sum; the SDK's string of one input stands alone, ready to be stored.
    private func line(_ hash: Hashed) -> String {
        isSDK && files.count == 1 ? hash.text : "\(hash.text)  \(hash.name)"
    }

    private var isSDK: Bool { encoding == .sdk || salt != nil || saltBits != nil }

    private func hash(_ file: String, _ algorithm: DigestAlgorithm) throws -> String {
        guard isSDK else {
            var digest = try Digest(algorithm)
            try readPieces(of: file) { digest.update($0) }
            let bytes = digest.finish()
            return encoding == .base64 ? Base64.encode(bytes) : Hex.encode(bytes)
        }
        let salt = try saltBits.map { try SaltedHash.generateSalt(bits: $0) } ?? salt
        var hash = try StreamedSaltedHash(algorithm, saltHex: salt)
        try readPieces(of: file) { try hash.update($0) }
        // Asked for on standard output, so no longer a secret of ours.
        return try hash.finish().withBytes { text in String(decoding: text.indices.map { text[$0] }, as: UTF8.self) }
    }
}

/// Hands a file to `body` piece by piece, so that its size does not matter. The pieces may be a password: they are
/// locked and wiped.
private func readPieces(of file: String, _ body: (Span<UInt8>) throws -> Void) throws {
    let descriptor = file == "-" ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure(.io, "cannot open \"\(file.shown)\": \(systemMessage(errno))") }
    defer { if file != "-" { close(descriptor) } }
    while true {
        var count = 0
        let piece = SecretBytes(count: 64 << 10) { free in
            count = free.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        }
        if count == 0 { return }
        guard count > 0 else {
            if errno == EINTR { continue }
            throw Failure(.io, "cannot read \"\(file.shown)\": \(systemMessage(errno))")
        }
        try piece.withBytes { try body($0.extracting(0..<count)) }
    }
}
