internal import ArgumentParser
internal import OMCrypto
internal import OMSecrets
internal import OMShell

/// `omvault crypto hash`: digests in the form of sha256sum, and salted hashes in all encodings.
struct CryptoHash: Verb {
    static let configuration = CommandConfiguration(
        commandName: "hash",
        abstract: "Hash files or standard input, plain or salted.",
        discussion: """
            Algorithms: \(DigestAlgorithm.allCases.map(\.name).joined(separator: ", ")).

              omvault crypto hash vault.omv
              omvault crypto hash --alg sha512 --encoding ldap --salt-bits 128 < password
              omvault crypto hash --encoding sdk --salt-bits 128 --batch passwords.txt

            Encodings: hex and base64 (only the digest; a salt is hashed but not stored), sdk ({SaltedSHA-256} and base64 of digest
            and upper-case hex salt, as Oracle's IDM Mobile SDK writes it), sdk-android (the same with a raw salt), ldap
            ({SSHA256}), phc ($salted-sha256$salt$digest). The hash is always of the data and then the salt.

            The three --no-… flags are switches of that SDK. With --no-base64 it prints only the raw digest and ignores the other
            two, as the SDK does. 'omvault crypto check' takes the same switches.

            If one of several files cannot be read, the others are still hashed.

            --check reads lists in the forms of sha256sum, sha256sum --tag and openssl dgst, and compares the files in them. It prints
            a line for each file (with --quiet only for those that fail). A file with another hash is exit 20, a file that cannot be
            read 60, and a list without a hash 30.

              omvault crypto hash --check SHA256SUMS

            Salted or not, these hashes are fast. Use them only to read or write such strings. To protect a password, use
            'omvault crypto password-hash'.
            """)

    @OptionGroup var global: GlobalOptions

    @Option(help: ArgumentHelp("The algorithm.", valueName: "name"), completion: .algorithms("hash"))
    var alg = DigestAlgorithm.sha256.name

    @Option(help: ArgumentHelp("hex, base64, sdk, sdk-android, ldap or phc.", valueName: "encoding"))
    var encoding: HashEncoding?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Make a salt of so many bits, a multiple of 4; 0 for none.", valueName: "bits"))
    var saltBits: Int?

    @Option(help: ArgumentHelp("Where the salt comes from.", valueName: "source"))
    var saltFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("How the salt is spelled there: raw, hex or base64.", valueName: "encoding"))
    var saltEncoding = ByteEncoding.raw

    @Flag(help: "Leave the salt out of the output (sdk, sdk-android).")
    var noAppendSalt = false

    @Flag(help: "Print the raw digest (sdk, sdk-android).")
    var noBase64 = false

    @Flag(help: "Leave {name} out of the output (sdk, sdk-android).")
    var noPrefix = false

    @Flag(help: "Hash every line by itself, each with a salt of its own, and print one hash a line.")
    var batch = false

    @Flag(help: "Read lists of hashes from FILES, and check the files in them.")
    var check = false

    @Flag(help: "--check: leave out files that are not there.")
    var ignoreMissing = false

    @Flag(help: "--check: a line that is no hash with a file's name is exit 30.")
    var strict = false

    @Argument(help: "Files; - is standard input.", completion: .file())
    var files: [String] = ["-"]

    func validate() throws {
        if check {
            guard encoding == nil, saltBits == nil, saltFrom == nil, !noAppendSalt, !noBase64, !noPrefix, !batch else {
                throw ValidationError("--check compares plain hashes: leave out --encoding, --batch and the options of salts")
            }
            return
        }
        if ignoreMissing || strict { throw ValidationError("--ignore-missing and --strict belong to --check") }
        if saltFrom != nil, saltBits != nil {
            throw ValidationError("--salt-from and --salt-bits contradict each other")
        }
        if noAppendSalt || noBase64 || noPrefix, spelling != .sdk, spelling != .sdkAndroid {
            throw ValidationError("--no-append-salt, --no-base64 and --no-prefix are switches of --encoding sdk")
        }
        if saltBits ?? 0 != 0, !global.isJSON, noBase64 || noAppendSalt || !spelling.holdsSalt {
            throw ValidationError(
                "the new salt would be lost: add --json, which prints it, or give a salt with --salt-from")
        }
        if noBase64, batch || files.count > 1 {
            throw ValidationError("--no-base64 prints raw bytes without an end mark: hash one file at a time")
        }
        if batch, global.isJSON { throw ValidationError("--batch prints lines, not JSON") }
    }

    func run(_ context: CommandContext) throws {
        let algorithm = try AlgorithmName.digest(alg)
        if algorithm.isInsecure {
            context.output.notice("warning: an attacker can make two files with the same \(algorithm.sdkName) hash")
        }
        if check {
            var check = ChecksumCheck(context, algorithm, ignoresMissing: ignoreMissing, isStrict: strict)
            return try check.run(files)
        }
        let given = try givenSalt(context)
        if batch { return try hashLines(context, algorithm, given) }
        // An error that concerns every file is reported once.
        _ = try HashString(algorithm, spelling, salt: salt(given), switches: switches)
        var hashes: [Hashed] = []
        var failure: Failure?
        for file in files {
            let hashed: Hashed
            do throws(Failure) { hashed = try reading { try hash(file, algorithm, given) } } catch {
                // Like sha256sum: if one file cannot be read, the other hashes are still printed.
                guard files.count > 1 else { throw error }
                error.report(asJSON: context.output.format == .json)
                failure = failure ?? error
                continue
            }
            if context.output.format == .json { hashes.append(hashed) } else { try print(hashed, context) }
        }
        if context.output.format == .json { try document(hashes, algorithm, context) }
        if let failure { throw AlreadyReported(status: failure.status) }
    }

    private func document(_ hashes: [Hashed], _ algorithm: DigestAlgorithm, _ context: CommandContext) throws {
        var document = JSONDocument()
        document.field("algorithm", .text(algorithm.name))
        document.field("encoding", .text(spelling.rawValue))
        document.objects("hashes", hashes) { hash, entry in
            entry.field("file", .text(hash.name))
            if noBase64 {
                entry.field("hash_base64", .text(Base64.encode(hash.text)))
            } else {
                entry.field("hash", .text(String(decoding: hash.text, as: UTF8.self)))
            }
            if !hash.salt.isEmpty, spelling == .sdk {
                entry.field("salt", .text(String(decoding: hash.salt, as: UTF8.self)))
            } else if !hash.salt.isEmpty {
                entry.field("salt_hex", .text(Hex.encode(hash.salt)))
            }
        }
        try context.output.document(document)
    }

    private struct Hashed {
        let name: String
        let text: [UInt8]
        let salt: [UInt8]
    }

    private var spelling: HashEncoding { encoding ?? (saltFrom == nil && saltBits == nil ? .hex : .sdk) }

    private var switches: SDKHashOptions {
        SDKHashOptions(appendsSalt: !noAppendSalt, usesBase64: !noBase64, hasPrefix: !noPrefix)
    }

    private func givenSalt(_ context: CommandContext) throws -> [UInt8]? {
        guard let saltFrom else { return nil }
        let sources = try SecretSources(
            context, ["--salt-from": saltFrom], standardInputIsDataOf: files.contains("-") ? "FILE" : nil)
        // The iOS SDK's salt is text, and text in a file ends with a newline. Any other salt is taken byte for byte.
        let given = try sources.read(
            "--salt-from", prompt: "Salt", keepNewline: saltEncoding == .raw && spelling != .sdk)
        let salt = try saltEncoding.decode(given, of: "--salt-from")
        guard salt.count > 0 else { throw CryptoError.saltRequired }
        return salt.publicBytes()
    }

    private func salt(_ given: [UInt8]?) throws(CryptoError) -> [UInt8] {
        if let given { return given }
        guard let saltBits, saltBits != 0 else { return [] }
        return spelling == .sdk
            ? Array(try SaltedHash.generateSalt(bits: saltBits).utf8) : try SaltedHash.generateRawSalt(bits: saltBits)
    }

    private func hash(_ file: String, _ algorithm: DigestAlgorithm, _ given: [UInt8]?) throws -> Hashed {
        let salt = try salt(given)
        var hash = try HashString(algorithm, spelling, salt: salt, switches: switches)
        var count = 0
        try FilePieces.read(file) { piece in
            count += piece.count
            guard spelling != .sdk || count + salt.count <= UInt32.max else { throw CryptoError.inputTooLong }
            hash.update(piece)
        }
        guard count > 0 || spelling != .sdk else { throw CryptoError.emptyInput }
        // The user asked for it on standard output, so it is no longer secret here.
        return Hashed(name: file, text: hash.finish().publicBytes(), salt: salt)
    }

    /// Prints a line in the form of sha256sum. A stored hash of one input is printed without the name.
    private func print(_ hash: Hashed, _ context: CommandContext) throws(Failure) {
        if noBase64 { return try context.output.writeSecret(SecretBytes(copying: hash.text)) }
        let text = String(decoding: hash.text, as: UTF8.self)
        try context.output.line(spelling.holdsSalt && files.count == 1 ? text : "\(text)  \(hash.name)")
    }

    private func reading(_ body: () throws -> Hashed) throws(Failure) -> Hashed {
        do { return try body() } catch { throw Failure(anyError: error) }
    }

    private func hashLines(_ context: CommandContext, _ algorithm: DigestAlgorithm, _ given: [UInt8]?) throws {
        var number = 0
        var unfinished = try HashString(algorithm, spelling, salt: salt(given), switches: switches)
        for file in files {
            try FilePieces.readLines(file) { block in
                var output = SecretBuffer(capacity: 64 << 10)
                try block.forEachLine { line in
                    number += 1
                    guard !line.isEmpty || spelling != .sdk else {
                        throw Failure(usage: "line \(number) is empty, and the SDK's form does not hash empty input")
                            .with(sdkCode: CryptoError.emptyInput.sdkCode)
                    }
                    if saltBits ?? 0 != 0 {
                        unfinished = try HashString(algorithm, spelling, salt: salt(given), switches: switches)
                    }
                    unfinished.update(line)
                    output.append(unfinished.finish())
                    output.append(UInt8(ascii: "\n"))
                }
                try StandardOutput.write(output.finish())
            }
        }
    }
}
