// `omvault crypto algs`: the algorithms of the toolkit. Every name comes from the type that the commands parse. So the list
// names nothing that a command does not know.

internal import ArgumentParser
internal import OMCrypto
internal import OMShell

struct CryptoAlgs: Verb {
    static let configuration = CommandConfiguration(
        commandName: "algs",
        abstract: "List the names of algorithms, modes, encodings and key forms.",
        discussion: """
            The STATUS of a name is one of these. default: what a verb takes when you name nothing. ok: it works. warns: it
            works, with a warning. legacy: made only with --insecure, read without it. read-only: read, never made. listed:
            crypto check takes it only when --schemes lists it.

              omvault crypto algs
              omvault crypto algs --json
            """)

    @OptionGroup var global: GlobalOptions

    var printsRows: Bool { true }

    func run(_ context: CommandContext) throws {
        try context.output.list(
            "algorithms", ToolkitName.all, columns: ["KIND", "NAME", "STATUS", "VERBS"],
            row: { [$0.kind, $0.name, $0.status.rawValue, $0.verbs.joined(separator: " ")] },
            object: { name, entry in
                entry.field("kind", .text(name.kind))
                entry.field("name", .text(name.name))
                entry.field("status", .text(name.status.rawValue))
                entry.field("verbs", .list(name.verbs.map { .text($0) }))
            })
    }
}

/// A name that a command accepts.
struct ToolkitName {
    enum Status: String {
        /// Used if no name is given.
        case standard = "default"
        case ok
        /// Works, with a warning.
        case warns
        /// Writing needs `--insecure`. Reading does not.
        case legacy
        case readOnly = "read-only"
        /// Taken only where `--schemes` lists it.
        case listed
    }

    let kind: String
    let name: String
    let status: Status
    let verbs: [String]

    static var all: [ToolkitName] {
        digests + hashEncodings + schemes + passwordFunctions + oneTimePasswords + derivations + containers + ciphers
            + cipherForms
            + keyTypes + keyForms + signatures + wrappings + encodings
    }

    private static func list<Values: Sequence>(
        _ kind: String, _ values: Values, verbs: String..., name: (Values.Element) -> String,
        status: (Values.Element) -> Status
    ) -> [ToolkitName] {
        var seen: Set<String> = []
        return values.filter { seen.insert(name($0)).inserted }
            .map { ToolkitName(kind: kind, name: name($0), status: status($0), verbs: verbs) }
    }

    // MARK: Hashing and passwords

    private static var digests: [ToolkitName] {
        list("hash", DigestAlgorithm.allCases, verbs: "hash", "check", "hmac", "kdf", name: \.name) {
            $0.isInsecure ? .warns : $0 == .sha256 ? .standard : .ok
        }
    }

    private static var hashEncodings: [ToolkitName] {
        list("hash-encoding", HashEncoding.allCases, verbs: "hash", "check", name: \.rawValue) {
            $0 == .hex ? .standard : .ok
        }
    }

    private static var schemes: [ToolkitName] {
        list("scheme", HashScheme.all, verbs: "check", name: \.name) {
            HashSchemes.standard.allows($0) ? .ok : .listed
        }
    }

    private static var passwordFunctions: [ToolkitName] {
        list("password-hash", PasswordFunction.Family.allCases, verbs: "password-hash", "check", name: \.rawValue) {
            $0 == .argon2id ? .standard : .ok
        }
    }

    private static var oneTimePasswords: [ToolkitName] {
        list("otp-hash", OneTimePassword.Hash.allCases, verbs: "otp-uri", name: \.rawValue) { $0 == .sha1 ? .standard : .ok }
    }

    private static var derivations: [ToolkitName] {
        list("kdf", CryptoKDF.Function.allCases, verbs: "kdf", name: \.rawValue) { _ in .ok }
    }

    // MARK: Ciphers

    private static var containers: [ToolkitName] {
        list("container", FileAlgorithm.allCases, verbs: "encrypt", "decrypt", name: \.name) {
            $0 == .aes256GCM ? .standard : .ok
        }
    }

    private static var ciphers: [ToolkitName] {
        list("cipher", AEADAlgorithm.allNames, verbs: "encrypt", "decrypt", name: \.self) { _ in .ok }
            + list("cipher", BlockAlgorithm.allNamed, verbs: "encrypt", "decrypt", name: \.name) {
                $0.algorithm.isInsecure ? .legacy : .warns
            }
    }

    private static var cipherForms: [ToolkitName] {
        list("padding", CipherOptions.Padding.allCases, verbs: "encrypt", "decrypt", name: \.rawValue) {
            $0 == .pkcs7 ? .standard : .ok
        }
            + list("cipher-encoding", CipherOptions.Encoding.allCases, verbs: "encrypt", "decrypt", name: \.rawValue) {
                $0 == .raw ? .standard : .ok
            }
            + list("openssl-enc", CipherOptions.Derivation.allCases, verbs: "encrypt", "decrypt", name: \.rawValue) {
                $0 == .legacy ? .legacy : .ok
            }
    }

    // MARK: Keys

    private static var keyTypes: [ToolkitName] {
        KeyKind.standard.map { kind in
            let uses: [(String, Bool)] = [
                ("sign", kind.signs), ("verify", kind.signs), ("agree", kind.agrees), ("wrap", kind.wraps),
                ("unwrap", kind.wraps),
            ]
            return ToolkitName(
                kind: "key-type", name: kind.name, status: .ok, verbs: ["keygen"] + uses.filter(\.1).map(\.0))
        }
            + [ToolkitName(kind: "key-type", name: CryptoKeygen.age, status: .ok, verbs: ["keygen"])]
            + list("key-type", SymmetricKey.Kind.allCases, verbs: "keygen", name: \.name) {
                $0.isInsecure ? .legacy : .ok
            }
    }

    private static var keyForms: [ToolkitName] {
        list("key-form", KeyForm.allCases.filter { $0 != .cert }, verbs: "pubkey", "convert", name: \.rawValue) {
            // The two SEC1 forms are for private keys only, and have no encryption.
            $0 == .pem ? .standard : $0 == .sec1 || $0 == .sec1PEM ? .legacy : .ok
        }
            + [ToolkitName(kind: "key-form", name: KeyForm.cert.rawValue, status: .ok, verbs: ["convert"])]
            + list("key-file", KeyFormat.allCases, verbs: "inspect", "convert", name: \.rawValue) {
                $0.isWritten ? .ok : .readOnly
            }
    }

    private static var signatures: [ToolkitName] {
        let standard = Set(KeyKind.standard.compactMap { try? SignatureAlgorithm(default: $0) })
        return list("signature", SignatureAlgorithm.allNamed, verbs: "sign", "verify", name: \.name) {
            $0.algorithm.hash?.isInsecure == true ? .warns : standard.contains($0.algorithm) ? .standard : .ok
        }
    }

    private static var wrappings: [ToolkitName] {
        list("wrap", AESKeyWrap.allCases, verbs: "wrap", "unwrap", name: \.name) { $0 == .kwp ? .standard : .ok }
            + list("wrap", PublicKeyWrap.all, verbs: "wrap", "unwrap", name: \.name) {
                $0.needsInsecure ? .legacy : $0.hash == .insecureSHA1 ? .warns : .ok
            }
    }

    private static var encodings: [ToolkitName] {
        let keyVerbs = ["keygen", "sign", "verify", "agree", "wrap", "unwrap"]
        let bytes = Set(ByteEncoding.allCases.map(\.rawValue))
        return OutputEncoding.allCases.map { encoding in
            ToolkitName(
                kind: "encoding", name: encoding.rawValue, status: .ok,
                verbs: ["hmac", "kdf", "rand"] + (bytes.contains(encoding.rawValue) ? keyVerbs : []))
        }
    }
}
