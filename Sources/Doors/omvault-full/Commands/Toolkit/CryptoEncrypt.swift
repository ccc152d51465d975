internal import ArgumentParser
internal import OMShell

/// `omvault crypto encrypt`: encrypts into a container (docs/formats/file-format.md) or with a bare cipher.
struct CryptoEncrypt: Verb {
    static let configuration = CommandConfiguration(
        commandName: "encrypt",
        abstract: "Encrypt a file or standard input.",
        discussion: """
              omvault crypto encrypt plan.pdf -o plan.pdf.omvf        # asks for a password
              omvault crypto encrypt --recipient ada.pub --recipient bob.pub plan.pdf -o plan.pdf.omvf
              omvault crypto encrypt --recipient age1… plan.pdf -o plan.pdf.age

            Writes a sealed file that 'omvault crypto decrypt' opens: to a password, a key of 32 bytes (--key-from) or public keys
            (--recipient, or --tag for a key pair in the vault). Every piece of it is authenticated.

            A recipient of age (age1…) or of OpenSSH (ssh-ed25519, ssh-rsa), or a file of them, makes an age file, which age
            opens. --age makes one for a password or for a key pair, --armor makes it text.

            --raw, --openssl and each algorithm that sealed files do not use write only the IV and the ciphertext. Use them only to
            exchange files with other programs. Most of these ciphers do not detect a changed file (docs/reference/toolkit.md).

              omvault crypto encrypt --openssl pbkdf2 --alg aes-256-cbc -i a -o a.enc
              omvault crypto encrypt --alg aes-256-cbc --key-from file:key --encoding sdk-android -i text

            Algorithms: \(CipherOptions.algorithms).

            --password-from is the file's password. With --tag, or if a source is om://VAULT/ITEM, it is the vault's.
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var cipher: CipherOptions

    @Option(
        help: ArgumentHelp(
            "Encrypt to this public key: a key file of X25519, om://VAULT/ITEM, 32 bytes in hex or base64, or for an age file "
                + "age1…, a line of OpenSSH or a file of such lines; may be repeated.",
            valueName: "pub"))
    var recipient: [String] = []

    @Flag(help: "Make an age file.")
    var age = false

    @Flag(help: "Make an age file that is text.")
    var armor = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "An age file for a password: the base-2 logarithm of scrypt's N, 10 to 22; 18 if not given. A reader refuses more "
                + "than 20 without --max-work.",
            valueName: "n"))
    var logN: Int?

    @OptionGroup var stretch: StretchOptions

    @Flag(help: "Allow a legacy algorithm, an IV of zeros or openssl's weakest derivations.")
    var insecure = false

    func validate() throws {
        if !recipient.isEmpty, cipher.key.isGiven {
            throw ValidationError("--recipient, --key-from and --tag contradict each other")
        }
        if age || armor || logN != nil, cipher.alg != nil || cipher.raw || cipher.openssl != nil {
            throw ValidationError("--age, --armor and --log-n are for age files, which have no --alg, --raw and --openssl")
        }
    }

    /// - Throws: ``ExitStatus/usage`` for an option without effect.
    func refuseIdle(isAge: Bool, hasPassword: Bool) throws(Failure) {
        let idle = [
            ("--armor", "omvault's own files, which are not text: add --age", armor && !isAge),
            ("--log-n", "a file that is not an age file for a password", logN != nil && !(isAge && hasPassword)),
            ("--alg", "age files, which have one algorithm", cipher.alg != nil && isAge),
            ("--kdf-mem and --kdf-time", "age files; --log-n is their work", stretch.isGiven && isAge),
        ]
        guard let option = idle.first(where: { $0.2 }) else { return }
        throw Failure(.usage, "\(option.0) has no effect on \(option.1)", hint: "leave out \(option.0)")
    }

    func run(_ context: CommandContext) throws {
        let choice = try cipher.choice()
        if stretch.isGiven {
            guard case .container = choice, recipient.isEmpty, !cipher.key.isGiven else {
                throw Failure(
                    .usage, "--kdf-mem and --kdf-time are for a container that is encrypted to a password",
                    hint: "leave them out")
            }
        }
        switch choice {
        case .container(let algorithm): try ContainerFile(cipher, context).encrypt(self, algorithm)
        case .sealed, .bare:
            guard recipient.isEmpty else {
                throw Failure(.usage, "a bare cipher has no recipients", hint: "leave out --raw to make a container")
            }
            try BareCipherFile(cipher, context).encrypt(choice, allowsInsecure: insecure)
        }
    }
}
