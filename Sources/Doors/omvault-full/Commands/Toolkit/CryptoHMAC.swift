internal import ArgumentParser
internal import OMCrypto
internal import OMSecrets
internal import OMShell

/// `omvault crypto hmac`.
struct CryptoHMAC: Verb {
    static let configuration = CommandConfiguration(
        commandName: "hmac",
        abstract: "Compute the HMAC of a file or standard input.",
        discussion: """
            Algorithms: \(DigestAlgorithm.allCases.map(\.name).joined(separator: ", ")).

              omvault crypto hmac --alg sha256 --key-from file:key message
            """)

    @OptionGroup var global: GlobalOptions

    @Option(help: ArgumentHelp("The hash function.", valueName: "name"), completion: .algorithms("hash"))
    var alg = DigestAlgorithm.sha256.name

    @Option(help: ArgumentHelp("Where the key comes from.", valueName: "source"))
    var keyFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("How the key is spelled there: raw, hex or base64.", valueName: "encoding"))
    var keyEncoding = ByteEncoding.raw

    @Option(help: ArgumentHelp("raw, hex, base64 or base32.", valueName: "encoding"))
    var encoding = OutputEncoding.hex

    @Argument(help: "The message; - is standard input.", completion: .file())
    var file = "-"

    func run(_ context: CommandContext) throws {
        let algorithm = try AlgorithmName.digest(alg)
        context.output.warn(ofUsing: algorithm, instead: "--alg sha256")
        let sources = try SecretSources(
            context, ["--key-from": keyFrom], standardInputIsDataOf: file == "-" ? "FILE" : nil)
        let key = try keyEncoding.decode(
            sources.read("--key-from", prompt: "Key", keepNewline: keyEncoding == .raw), of: "--key-from")
        var mac = try HMAC(algorithm, key: key)
        try FilePieces.read(file) { mac.update($0) }
        let tag = mac.finish()
        guard context.output.format == .json else { return try context.output.bytes(tag, as: encoding) }
        var document = JSONDocument()
        document.field("algorithm", .text("hmac-\(algorithm.name)"))
        let shown: OutputEncoding = encoding == .raw ? .base64 : encoding
        document.secret("tag_\(shown.rawValue)", shown.encode(tag))
        try context.output.document(document)
    }
}
