internal import OMCrypto
internal import OMSecrets
internal import OMShell

/// The recipients of `crypto encrypt`: those of omvault's own files, and those of age files.
struct ChosenRecipients {
    /// Whether `--age` asks for an age file.
    private let areForAge: Bool
    private let key: ChosenKey
    private let context: CommandContext
    private(set) var own: [FileRecipient] = []
    private(set) var age: [AgeRecipient] = []

    init(areForAge: Bool, _ key: ChosenKey, _ context: CommandContext) {
        (self.areForAge, self.key, self.context) = (areForAge, key, context)
    }

    var areOfAge: Bool { areForAge || !age.isEmpty }

    /// Adds a recipient's key as text: hex, base64, a recipient of age, a line of OpenSSH; or the name of a key file, a file of
    /// recipients or a vault item.
    mutating func add(_ text: String, _ secrets: borrowing SecretSources) throws {
        guard !text.uppercased().hasPrefix("AGE-SECRET-KEY-") else {
            throw Failure(
                .usage, "--recipient takes a public key, and this is a private one: other users have seen it",
                hint: "make a new one with omvault crypto keygen --type age")
        }
        if Self.isKey(text) {
            do throws(CryptoError) { age.append(try AgeRecipient(text)) } catch {
                let failure = Failure(error)
                guard failure.status == .corrupt else { throw failure }
                throw Failure(.usage, failure.message, hints: failure.hints + ["if it is a file: --recipient ./\(text)"])
            }
        } else if let bytes = (try? Hex.decode(text)) ?? (try? Base64.decode(text)), bytes.count == 32 {
            try add(PublicKey(x25519: bytes))
        } else {
            try add(KeyOrigin(file: text, tag: nil), secrets)
        }
        try requireOneKind()
    }

    mutating func add(_ origin: KeyOrigin, _ secrets: borrowing SecretSources) throws {
        let bytes = try origin.bytes("public", secrets: secrets, unlock: key.unlock, context: context)
        if bytes.count == 32 {
            try add(PublicKey(x25519: bytes.publicBytes()))
        } else if AgeRecipient.isList(bytes) {
            do throws(CryptoError) { age += try AgeRecipient.list(in: bytes) } catch {
                guard let line = AgeRecipient.faultyLine(in: bytes) else { throw error }
                throw Failure(error).inLine(line)
            }
        } else if AgeIdentity.isList(bytes) {
            age += try AgeIdentity.list(in: bytes).map(\.recipient)
        } else {
            try add(key.opening.file.publicKey(bytes, secrets))
        }
        try requireOneKind()
    }

    private mutating func add(_ key: consuming PublicKey) throws {
        if areForAge { age.append(try AgeRecipient(key)) } else { own.append(try FileRecipient(key)) }
    }

    private func requireOneKind() throws(Failure) {
        guard own.isEmpty || age.isEmpty else {
            throw Failure(
                .usage, "some of the recipients need an age file, and others a file of omvault",
                hint: "--age makes an age file for all of them")
        }
    }

    /// Whether it is a key, and no name of a file.
    private static func isKey(_ text: String) -> Bool {
        let isOfAge = text.hasPrefix("age1") && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) }
        return isOfAge || text.contains(" ") && ["ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-"].contains { text.hasPrefix($0) }
    }
}
