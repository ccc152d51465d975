internal import ArgumentParser
internal import OMCrypto
internal import OMSecrets

/// Where the answer goes.
struct KeyOutputOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The form to write.", valueName: "form"))
    var to = KeyForm.pem

    @Option(name: [.customShort("o"), .customLong("out")], help: ArgumentHelp("Where it goes.", valueName: "file"))
    var output: String?

    @Flag(help: "Replace the file of -o.")
    var force = false

    func write(_ bytes: borrowing SecretBytes, isPublic: Bool = false, _ door: Door) throws {
        var target = try OutputFile(output, replacing: force, isPublic: isPublic)
        if target.isStandardOutput { return try door.output.writeSecret(bytes) }
        try target.write(bytes)
        try target.finish()
    }

    func write(_ key: borrowing PublicKey, comment: String, _ door: Door) throws {
        switch to {
        case .pem: try write(text: KeyText.pem(spki: key.spki()), door)
        case .der: try write(SecretBytes(copying: key.spki()), isPublic: true, door)
        case .jwk: try write(text: key.jwk() + "\n", door)
        case .openssh: try write(text: key.openSSHLine(comment: comment) + "\n", door)
        case .raw: try write(SecretBytes(copying: key.rawBytes), isPublic: true, door)
        case .pkcs1: try write(SecretBytes(copying: key.pkcs1()), isPublic: true, door)
        case .pkcs1PEM: try write(text: KeyText.pem(pkcs1: key.pkcs1()), door)
        case .sec1, .sec1PEM, .p12: throw Failure(.usage, "\(to.rawValue) is a form of private keys")
        case .cert: throw Failure(.usage, "certificates are what crypto convert takes out, of PKCS#12 or PEM")
        }
    }

    func write(text: String, _ door: Door) throws {
        try write(SecretBytes(copying: Array(text.utf8)), isPublic: true, door)
    }
}
