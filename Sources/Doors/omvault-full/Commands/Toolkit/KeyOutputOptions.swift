internal import ArgumentParser
internal import OMCrypto
internal import OMSecrets
internal import OMShell

/// The options for the form and the file of a key that is written.
struct KeyOutputOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The form to write.", valueName: "form"))
    var to = KeyForm.pem

    @Option(
        name: [.customShort("o"), .customLong("out")], help: ArgumentHelp("Where it goes.", valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(help: "Replace the file of -o.")
    var force = false

    func write(_ bytes: borrowing SecretBytes, isPublic: Bool = false, _ context: CommandContext) throws {
        var target = try OutputFile(output, replacing: force, isPublic: isPublic)
        if target.isStandardOutput { return try context.output.writeSecret(bytes) }
        try target.write(bytes)
        try target.finish()
    }

    func write(_ key: borrowing PublicKey, comment: String, _ context: CommandContext) throws {
        switch to {
        case .pem: try write(text: KeyText.pem(spki: key.spki()), context)
        case .der: try write(SecretBytes(copying: key.spki()), isPublic: true, context)
        case .jwk: try write(text: key.jwk() + "\n", context)
        case .openssh: try write(text: key.openSSHLine(comment: comment) + "\n", context)
        case .raw: try write(SecretBytes(copying: key.rawBytes), isPublic: true, context)
        case .pkcs1: try write(SecretBytes(copying: key.pkcs1()), isPublic: true, context)
        case .pkcs1PEM: try write(text: KeyText.pem(pkcs1: key.pkcs1()), context)
        case .age: try write(text: AgeRecipient(key).text + "\n", context)
        case .sec1, .sec1PEM, .p12: throw Failure(usage: "\(to.rawValue) is a form of private keys")
        case .cert: throw Failure(usage: "only omvault crypto convert extracts certificates, from PKCS#12 or PEM")
        }
    }

    func write(text: String, _ context: CommandContext) throws {
        try write(SecretBytes(copying: Array(text.utf8)), isPublic: true, context)
    }
}
