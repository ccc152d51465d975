// Encrypts and decrypts a container from `-i` to `-o`. OMCrypto has the format. Here are the sources of the secrets and the
// two streams.

internal import OMCrypto
internal import OMSecrets
internal import OMShell

struct ContainerFile {
    private let options: CipherOptions
    private let context: CommandContext

    init(_ options: CipherOptions, _ context: CommandContext) {
        (self.options, self.context) = (options, context)
    }

    func encrypt(_ command: CryptoEncrypt, _ algorithm: FileAlgorithm) throws {
        let input = try InputFile(options.input)
        var target = try OutputFile(options.output, replacing: options.force)
        guard !target.isStandardOutput || !StandardOutput.isTerminal else {
            throw Failure(.usage, "a container is not text, and standard output is a terminal", hint: "give -o FILE")
        }
        let sealer = try sealer(command, algorithm, input.isStandardInput)
        var progress = ByteProgress(total: input.count, isQuiet: context.output.isQuiet)
        defer { progress.end() }
        try sealer.seal(
            from: { (room) in
                let count = try input.read(into: &room)
                progress.add(count)
                return count
            },
            to: { try target.write($0) })
        try target.finish(context)
    }

    private func sealer(
        _ command: CryptoEncrypt, _ algorithm: FileAlgorithm, _ inputIsStandard: Bool
    ) throws -> FileSealer {
        let dataOption = inputIsStandard ? "-i" : nil
        let key = options.key
        guard command.recipient.isEmpty, key.tag == nil else {
            guard options.keyEncoding == nil else {
                throw Failure(
                    .usage, "--key-encoding is for --key-from, and a recipient is a key file or its 32 bytes",
                    hint: "leave out --key-encoding")
            }
            // A recipient's key may be in an encrypted file, or in a vault.
            let secrets = try SecretSources(context, key.opening.sources, standardInputIsDataOf: dataOption)
            var recipients: [FileRecipient] = []
            if key.tag != nil { recipients.append(try recipient(key.origin(), secrets)) }
            for text in command.recipient { recipients.append(try recipient(text, secrets)) }
            return try FileSealer(algorithm, recipients: recipients)
        }
        guard !key.isGiven else {
            try options.refuseIdle("a container under a key", takesKey: true, takesWork: false)
            let sources = key.isInVault ? key.sources : [("--key-from", key.keyFrom?.source)]
            let secrets = try SecretSources(context, sources, standardInputIsDataOf: dataOption)
            return try FileSealer(
                algorithm,
                key: Key<Deriving>(readFrom: options.key(secrets, "the container", count: 32, allowed: [], context)))
        }
        try options.refuseIdle("a new container under a password", takesKey: false, takesWork: false)
        let work = try command.stretch.parameters()
        let secrets = try SecretSources(
            context, ["--password-from": options.passwordFrom], standardInputIsDataOf: dataOption)
        return try FileSealer(
            algorithm, password: secrets.readPassword("--password-from", prompt: "New password", isNew: true),
            work: work)
    }

    /// A recipient's key: hex, base64, a key file or a vault item.
    private func recipient(_ text: String, _ secrets: borrowing SecretSources) throws -> FileRecipient {
        if let bytes = (try? Hex.decode(text)) ?? (try? Base64.decode(text)), bytes.count == 32 {
            return try FileRecipient(publicKey: bytes)
        }
        return try recipient(KeyOrigin(file: text, tag: nil), secrets)
    }

    private func recipient(_ origin: KeyOrigin, _ secrets: borrowing SecretSources) throws -> FileRecipient {
        let bytes = try origin.bytes("public", secrets: secrets, unlock: options.key.unlock, context: context)
        guard bytes.count != 32 else { return try FileRecipient(publicKey: bytes.publicBytes()) }
        return try FileRecipient(options.key.opening.file.publicKey(bytes, secrets))
    }

    func decrypt() throws {
        let input = try InputFile(options.input)
        var target = try OutputFile(options.output, replacing: options.force)
        let secrets = try SecretSources(
            context, options.key.sources, standardInputIsDataOf: input.isStandardInput ? "-i" : nil)
        let file = try SealedFile(from: { try input.read(into: &$0) })
        let opener = try opener(file, secrets)
        var progress = ByteProgress(total: input.count, isQuiet: context.output.isQuiet)
        defer { progress.end() }
        var shown = ShownText(isNeeded: target.isStandardOutput && StandardOutput.isTerminal)
        do {
            try opener.open(
                from: { (room) in
                    let count = try input.read(into: &room)
                    progress.add(count)
                    return count
                },
                to: { piece in
                    if try !shown.append(piece) { try target.write(piece) }
                })
        } catch CryptoError.damagedContainer {
            // The file of -o is gone by then; what standard output has taken is not to be had back.
            throw Self.damaged(isInPart: target.isStandardOutput && target.count > 0)
        }
        progress.end()
        try shown.show(context.output)
        try target.finish(context)
    }

    private static func damaged(isInPart: Bool) -> Failure {
        let failure = Failure(CryptoError.damagedContainer)
        let rest = isInPart ? "what was written of it is not whole" : "nothing was written"
        return Failure(failure.status, "\(failure.message); \(rest)", hints: failure.hints).with(sdkCode: failure.sdkCode)
    }

    private func opener(_ file: SealedFile, _ secrets: borrowing SecretSources) throws -> FileOpener {
        switch file.lock {
        case .password:
            guard !options.key.isGiven else {
                throw Failure(.usage, "this file opens with a password, not with a key", hint: "give --password-from")
            }
            try options.refuseIdle("a container under a password", takesKey: false, takesWork: true)
            return try file.unlock(
                with: secrets.readPassword("--password-from", prompt: "Password"),
                limit: options.key.work.limit)
        case .key:
            try requireKey("a key of 32 bytes")
            try options.refuseIdle("a container under a key", takesKey: true, takesWork: false)
            return try file.unlock(
                with: Key<Deriving>(readFrom: options.key(secrets, "the container", count: 32, allowed: [], context)))
        case .recipients:
            try requireKey("a private key of X25519")
            return try file.unlock(with: identity(secrets))
        }
    }

    /// The private key: a key file of any form, or its 32 bytes.
    private func identity(_ secrets: borrowing SecretSources) throws -> X25519Identity {
        let bytes = try options.keyBytes(secrets, field: "private", prompt: "Private key", context)
        guard bytes.count != 32 else { return try X25519Identity(privateKey: bytes) }
        return try X25519Identity(options.key.opening.file.privateKey(bytes, secrets))
    }

    private func requireKey(_ what: String) throws(Failure) {
        guard options.passwordFrom == nil || options.key.isInVault else {
            throw Failure(.usage, "this file opens with \(what), not with a password", hint: "give --key-from")
        }
    }
}
