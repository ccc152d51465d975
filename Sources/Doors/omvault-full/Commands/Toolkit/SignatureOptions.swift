internal import ArgumentParser
internal import OMCrypto
internal import OMShell

/// The options that `crypto sign` and `crypto verify` share.
struct SignatureOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "rsa-pss-HASH, rsa-pkcs1-HASH, ecdsa-HASH, ecdsa-p1363-HASH or ed25519; else what suits the key.",
            valueName: "name"), completion: .algorithms("signature"))
    var alg: String?

    @Option(
        help: ArgumentHelp(
            "PSS: the salt's length in bytes, or 'digest' for the hash's length, or 'any' (the longest when signing).",
            valueName: "length"))
    var saltLength = "digest"

    @Option(help: ArgumentHelp("PSS: the hash of the mask. The default is the message's hash.", valueName: "hash"))
    var mgf: String?

    @Option(help: ArgumentHelp("How the signature is written: raw, base64 or hex.", valueName: "encoding"))
    var encoding = ByteEncoding.raw

    @Argument(help: "The file; - is standard input.", completion: .file())
    var file = "-"

    func sources(_ key: ChosenKey, _ context: CommandContext) throws(Failure) -> SecretSources {
        try SecretSources(context, key.sources, standardInputIsDataOf: InputFile.isStandardInput(file) ? "FILE" : nil)
    }

    func algorithm(_ kind: KeyKind, _ context: CommandContext) throws -> SignatureAlgorithm {
        var algorithm =
            if let alg {
                try AlgorithmName.reading(alg, among: "signature", body: SignatureAlgorithm.init(named:))
            } else {
                try SignatureAlgorithm(default: kind)
            }
        if case .rsaPSS(let hash, _, _) = algorithm {
            algorithm = .rsaPSS(hash, mask: try mgf.map { try AlgorithmName.digest($0) }, salt: try salt())
        } else if mgf != nil || saltLength != "digest" {
            throw Failure(usage: "--mgf and --salt-length are for rsa-pss")
        }
        if Self.hashes(algorithm).contains(.insecureSHA1) {
            context.output.notice("warning: an attacker can make two messages with the same SHA-1 hash")
        }
        return algorithm
    }

    /// The hashes of the message and of the mask.
    static func hashes(_ algorithm: SignatureAlgorithm) -> [DigestAlgorithm] {
        guard case .rsaPSS(let hash, let mask?, _) = algorithm else { return algorithm.hash.map { [$0] } ?? [] }
        return [hash, mask]
    }

    /// Passes the message on piece by piece.
    func read(_ update: (Span<UInt8>) throws(CryptoError) -> Void) throws {
        do { try FilePieces.read(file) { try update($0) } } catch CryptoError.inputTooLong {
            throw Failure(
                .usage, "Ed25519 keeps the message in memory, because it reads it twice: at most 1 GiB",
                hint: "sign a digest of the message, or use an RSA or EC key, which takes any length")
        }
    }

    private func salt() throws -> PSSSaltLength {
        switch saltLength {
        case "digest": return .ofDigest
        case "any", "max", "auto": return .any
        default:
            guard let count = Int(saltLength), (0...2048).contains(count) else {
                throw Failure(usage: "--salt-length takes a number of bytes, digest or any")
            }
            return .bytes(count)
        }
    }
}
