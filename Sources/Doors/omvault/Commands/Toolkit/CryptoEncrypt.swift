internal import ArgumentParser

/// `omvault crypto encrypt`: the container of docs/file-format.md, or a bare cipher.
struct CryptoEncrypt: Verb {
    static let configuration = CommandConfiguration(
        commandName: "encrypt",
        abstract: "Encrypt a file or standard input.",
        discussion: """
            Algorithms: \(CipherOptions.algorithms).

            Without --raw the result is a container: to a password, a key of 32 bytes or public keys, in authenticated
            chunks. Prefer it. With --raw, or an algorithm that only exists bare, it is IV and ciphertext as other
            programs write them (docs/toolkit.md).

            With --tag it is to the public half of a pair in the vault. --password-from is the file's password; with
            --tag or om:// it is the vault's.

              omvault crypto encrypt -i plan.pdf -o plan.pdf.omvf
              omvault crypto encrypt --recipient ada.pub --recipient bob.pub < plan.pdf > plan.pdf.omvf
              omvault crypto encrypt --alg aes-256-cbc --key-from file:key --encoding sdk-android -i text
              omvault crypto encrypt --openssl pbkdf2 --alg aes-256-cbc -i a -o a.enc
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var cipher: CipherOptions

    @Option(
        help: ArgumentHelp(
            "A public key that may open it: a key file of X25519, om://VAULT/ITEM, or 32 bytes in hex or base64.",
            valueName: "pub"))
    var recipient: [String] = []

    @OptionGroup var stretch: StretchOptions

    @Flag(help: "Allow a legacy algorithm, an IV of zeros or openssl's weakest derivations.")
    var insecure = false

    func validate() throws {
        if !recipient.isEmpty, cipher.key.isGiven {
            throw ValidationError("--recipient, --key-from and --tag contradict each other")
        }
    }

    func run(_ context: CommandContext) throws {
        let way = try cipher.choice()
        if stretch.isGiven {
            guard case .container = way, recipient.isEmpty, !cipher.key.isGiven else {
                throw Failure(
                    .usage, "--kdf-mem and --kdf-time are the work of a container's password, and none is used",
                    hint: "leave them out")
            }
        }
        switch way {
        case .container(let algorithm): try ContainerFile(cipher, context).encrypt(self, algorithm)
        case .sealed, .bare:
            guard recipient.isEmpty else {
                throw Failure(.usage, "a bare cipher takes no recipients", hint: "leave out --raw for the container")
            }
            try BareCipherFile(cipher, context).encrypt(way, allowsInsecure: insecure)
        }
    }
}
