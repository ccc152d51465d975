internal import ArgumentParser
internal import OMShell

/// `omvault crypto pubkey`.
struct CryptoPubkey: Verb {
    static let configuration = CommandConfiguration(
        commandName: "pubkey",
        abstract: "Extract the public key of a key file.",
        discussion: """
            Forms: pem and der (SubjectPublicKeyInfo), jwk, openssh, raw, pkcs1, pkcs1-pem, age (a recipient: age1…).

              omvault crypto pubkey --in id.pem --to openssh
              omvault crypto pubkey --tag signing -o signing.pub.pem
              omvault crypto pubkey --in key.txt --to age
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var source: KeyInputOptions
    @OptionGroup var target: KeyOutputOptions

    @Option(help: ArgumentHelp("openssh: the comment at the end of the line.", valueName: "text"))
    var comment = ""

    func run(_ context: CommandContext) throws {
        guard comment == comment.shown else { throw Failure(usage: "--comment must be printable text") }
        let secrets = try source.sources(context)
        let bytes = try source.bytes("public", secrets, context)
        try target.write(source.opening.file.publicKey(bytes, secrets), comment: comment, context)
    }
}
