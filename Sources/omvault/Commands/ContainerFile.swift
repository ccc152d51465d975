// The container between `-i` and `-o`: all that it is, OMCrypto knows; here are the secrets' sources and the two
// streams.

internal import OMCrypto
internal import OMSecrets

struct ContainerFile {
    private let options: CipherOptions
    private let door: Door

    init(_ options: CipherOptions, _ door: Door) {
        (self.options, self.door) = (options, door)
    }

    func encrypt(_ command: CryptoEncrypt, _ algorithm: FileAlgorithm) throws {
        let input = try InputFile(options.input)
        var target = try OutputFile(options.output, replacing: options.force)
        guard !target.isStandardOutput || !StandardOutput.isTerminal else {
            throw Failure(.usage, "a container is not text, and standard output is a terminal", hint: "give -o FILE")
        }
        let sealer = try sealer(command, algorithm, input.isStandardInput)
        var progress = ByteProgress(total: input.count, isQuiet: door.output.isQuiet)
        defer { progress.end() }
        try sealer.seal(
            from: { (room) in
                let count = try input.read(into: &room)
                progress.add(count)
                return count
            },
            to: { try target.write($0) })
        try target.finish()
    }

    private func sealer(
        _ command: CryptoEncrypt, _ algorithm: FileAlgorithm, _ inputIsStandard: Bool
    ) throws -> FileSealer {
        guard command.recipient.isEmpty else {
            var recipients: [FileRecipient] = []
            for text in command.recipient { recipients.append(try RecipientText.recipient(text)) }
            return try FileSealer(algorithm, recipients: recipients)
        }
        let dataOption = inputIsStandard ? "-i" : nil
        guard options.keyFrom == nil else {
            let secrets = try SecretSources(
                door, ["--key-from": options.keyFrom], standardInputIsDataOf: dataOption)
            return try FileSealer(
                algorithm,
                key: Key<Deriving>(
                    readFrom: options.key(secrets, "the container", count: 32, allowed: [])))
        }
        let work = try command.stretch.parameters()
        let secrets = try SecretSources(
            door, ["--password-from": options.passwordFrom], standardInputIsDataOf: dataOption)
        return try FileSealer(
            algorithm, password: secrets.readPassword("--password-from", prompt: "New password", isNew: true),
            work: work)
    }

    func decrypt(maximumWork: Int?) throws {
        let input = try InputFile(options.input)
        var target = try OutputFile(options.output, replacing: options.force)
        let secrets = try SecretSources(
            door, ["--password-from": options.passwordFrom, "--key-from": options.keyFrom],
            standardInputIsDataOf: input.isStandardInput ? "-i" : nil)
        let file = try SealedFile(from: { try input.read(into: &$0) })
        let opener = try opener(file, secrets, maximumWork ?? SealedFile.standardMaximumWork)
        var progress = ByteProgress(total: input.count, isQuiet: door.output.isQuiet)
        defer { progress.end() }
        var shown = ShownText(isNeeded: target.isStandardOutput && StandardOutput.isTerminal)
        try opener.open(
            from: { (room) in
                let count = try input.read(into: &room)
                progress.add(count)
                return count
            },
            to: { piece in
                if try !shown.take(piece) { try target.write(piece) }
            })
        progress.end()
        try shown.show(door.output)
        try target.finish()
    }

    private func opener(
        _ file: SealedFile, _ secrets: borrowing SecretSources, _ maximumWork: Int
    ) throws -> FileOpener {
        switch file.lock {
        case .password:
            guard options.keyFrom == nil else {
                throw Failure(.usage, "this file opens with a password, not with a key", hint: "--password-from")
            }
            return try file.unlock(
                with: secrets.readPassword("--password-from", prompt: "Password"), maximumWork: maximumWork)
        case .key:
            try requireKey("a key of 32 bytes")
            return try file.unlock(
                with: Key<Deriving>(readFrom: options.key(secrets, "the container", count: 32, allowed: [])))
        case .recipients:
            try requireKey("a private key of X25519")
            return try file.unlock(
                with: RecipientText.identity(
                    secrets.readBytes("--key-from", prompt: "Private key", options.keyEncoding)))
        }
    }

    private func requireKey(_ what: String) throws(Failure) {
        guard options.passwordFrom == nil else {
            throw Failure(.usage, "this file opens with \(what), not with a password", hint: "--key-from")
        }
    }
}

/// What goes to a terminal: held until it is whole, and judged before it is shown.
struct ShownText: ~Copyable {
    private let isNeeded: Bool
    private var text = SecretBuffer()
    private static let maximum = 1 << 20

    init(isNeeded: Bool) { self.isNeeded = isNeeded }

    /// Takes the piece when it is for a terminal.
    mutating func take(_ piece: Span<UInt8>) throws(Failure) -> Bool {
        guard isNeeded else { return false }
        guard text.count + piece.count <= Self.maximum else {
            throw Failure(.usage, "more than 1 MiB, and standard output is a terminal", hint: "give -o FILE")
        }
        text.append(piece)
        return true
    }

    consuming func show(_ output: Output) throws(Failure) {
        guard isNeeded else { return }
        try output.writeSecret(text.finish())
    }
}
