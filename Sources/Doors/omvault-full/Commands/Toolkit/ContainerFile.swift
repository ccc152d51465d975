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
        let input = try InputFile(options.data)
        var target = try OutputFile(options.output, replacing: options.force)
        guard command.armor || !target.isStandardOutput || !StandardOutput.isTerminal else {
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
    ) throws -> NewFile {
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
            var recipients = ChosenRecipients(areForAge: command.age, key, context)
            if key.tag != nil { try recipients.add(key.origin(), secrets) }
            for text in command.recipient { try recipients.add(text, secrets) }
            try command.refuseIdle(isAge: recipients.areOfAge, hasPassword: false)
            guard recipients.areOfAge else { return .own(try FileSealer(algorithm, recipients: recipients.own)) }
            return .age(try AgeSealer(recipients: recipients.age), isArmored: command.armor)
        }
        guard !key.isGiven else {
            guard !command.age else {
                throw Failure(
                    .usage, "an age file has recipients or a password, and no key of 32 bytes",
                    hint: "--recipient FILE takes the public key of a key pair, --tag one in the vault")
            }
            try command.refuseIdle(isAge: false, hasPassword: false)
            try options.refuseIdle("a container under a key", takesKey: true, takesWork: false)
            let sources = key.isInVault ? key.sources : [("--key-from", key.keyFrom?.source)]
            let secrets = try SecretSources(context, sources, standardInputIsDataOf: dataOption)
            return .own(
                try FileSealer(
                    algorithm,
                    key: Key<Deriving>(
                        readFrom: options.key(secrets, "the container", count: 32, allowed: [], context))))
        }
        try command.refuseIdle(isAge: command.age, hasPassword: true)
        try options.refuseIdle("a new container under a password", takesKey: false, takesWork: false)
        let work = try command.stretch.parameters()
        let secrets = try SecretSources(
            context, ["--password-from": options.passwordFrom], standardInputIsDataOf: dataOption)
        let password = try secrets.readNewPassword("--password-from", prompt: "New password")
        guard command.age else { return .own(try FileSealer(algorithm, password: password, work: work)) }
        return .age(
            try AgeSealer(password: password, logCost: command.logN ?? AgeSealer.standardLogCost),
            isArmored: command.armor)
    }

    func decrypt() throws {
        let input = try InputFile(options.data)
        var target = try OutputFile(options.output, replacing: options.force)
        let secrets = try SecretSources(
            context, options.key.sources, standardInputIsDataOf: input.isStandardInput ? "-i" : nil)
        let total = input.count
        // Nothing in an encrypted file is secret. If it is not encrypted, it is not read further.
        let reader = try input.readStart(AgeReader.startCount).withBytes { AgeReader(after: $0) }
        let opener = try opener(reader, input, secrets)
        var progress = ByteProgress(total: total, isQuiet: context.output.isQuiet)
        defer { progress.end() }
        var shown = ShownText(isNeeded: target.isStandardOutput && StandardOutput.isTerminal)
        do {
            try opener.open(
                from: { (room) in
                    try reader.read(into: &room) {
                        let count = try input.read(into: &$0)
                        progress.add(count)
                        return count
                    }
                },
                to: { piece in
                    if try !shown.append(piece) { try target.write(piece) }
                })
        } catch let error as CryptoError where error == .damagedContainer || error == .malformedArmor {
            // The file of -o is gone by then; what standard output has taken is not to be had back.
            throw Self.damaged(error, isInPart: target.isStandardOutput && target.count > 0)
        }
        progress.end()
        try shown.show(context.output)
        try target.finish(context)
    }

    private static func damaged(_ error: CryptoError, isInPart: Bool) -> Failure {
        let failure = Failure(error)
        let rest = isInPart ? "what was written of it is not whole" : "nothing was written"
        return Failure(failure.status, "\(failure.message); \(rest)", hints: failure.hints).with(sdkCode: failure.sdkCode)
    }

    private func opener(
        _ reader: AgeReader, _ input: borrowing InputFile, _ secrets: borrowing SecretSources
    ) throws -> FileOpener {
        guard reader.isAge else {
            return try opener(SealedFile(from: { try reader.read(into: &$0) { try input.read(into: &$0) } }), secrets)
        }
        return try opener(AgeFile(from: { try reader.read(into: &$0) { try input.read(into: &$0) } }), secrets)
    }

    private func opener(_ file: AgeFile, _ secrets: borrowing SecretSources) throws -> FileOpener {
        guard file.opensWithPassword else {
            try requireKey("a private key")
            return try file.unlock(with: identities(secrets))
        }
        try refuseKey()
        try options.refuseIdle("an age file under a password", takesKey: false, takesWork: true)
        return try file.unlock(
            with: secrets.readPassword("--password-from", prompt: "Password"), limit: options.key.work.limit)
    }

    private func opener(_ file: SealedFile, _ secrets: borrowing SecretSources) throws -> FileOpener {
        switch file.lock {
        case .password:
            try refuseKey()
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

    /// The private keys for an age file: identities of age, or one key as for a container.
    private func identities(_ secrets: borrowing SecretSources) throws -> [AgeIdentity] {
        let bytes = try options.keyBytes(secrets, field: "private", prompt: "Private key", context)
        guard bytes.count != 32 else { return [try AgeIdentity(PrivateKey(x25519: bytes))] }
        return try options.key.opening.file.ageIdentities(bytes, secrets)
    }

    private func refuseKey() throws(Failure) {
        guard !options.key.isGiven else {
            throw Failure(.usage, "this file opens with a password, not with a key", hint: "give --password-from")
        }
    }

    private func requireKey(_ what: String) throws(Failure) {
        guard options.passwordFrom == nil || options.key.isInVault else {
            throw Failure(.usage, "this file opens with \(what), not with a password", hint: "give --key-from")
        }
    }
}

/// A file that is being encrypted: omvault's own, or age's.
private enum NewFile: ~Copyable {
    case own(FileSealer)
    case age(AgeSealer, isArmored: Bool)

    consuming func seal(from source: ByteSource, to sink: ByteSink) throws {
        switch consume self {
        case .own(let sealer): try sealer.seal(from: source, to: sink)
        case .age(let sealer, let isArmored): try sealer.seal(from: source, to: sink, isArmored: isArmored)
        }
    }
}
