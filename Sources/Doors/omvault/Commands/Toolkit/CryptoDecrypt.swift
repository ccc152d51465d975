internal import ArgumentParser

/// `omvault crypto decrypt`: decrypts files of `encrypt`, and files of other programs with the same ciphers.
struct CryptoDecrypt: Verb {
    static let configuration = CommandConfiguration(
        commandName: "decrypt",
        abstract: "Decrypt a file or standard input.",
        discussion: """
            A container says itself what opens it: a password, a key (--key-from, 32 bytes) or a private key of X25519
            (--key-from, a key file or its 32 bytes; --tag for one in the vault). Nothing is written that is not
            authenticated, and the file of -o appears only when all of it is. --password-from is the file's password;
            with --tag or om:// it is the vault's.

              omvault crypto decrypt -i plan.pdf.omvf -o plan.pdf
              omvault crypto decrypt --alg aes-256-cbc --openssl pbkdf2 -i a.enc -o a
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var cipher: CipherOptions

    func run(_ context: CommandContext) throws {
        let choice = try cipher.choice()
        switch choice {
        case .container: try ContainerFile(cipher, context).decrypt()
        case .sealed, .bare: try BareCipherFile(cipher, context).decrypt(choice)
        }
    }
}
