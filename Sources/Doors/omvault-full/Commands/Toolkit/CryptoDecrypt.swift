internal import ArgumentParser

/// `omvault crypto decrypt`: decrypts files of `encrypt`, and files of other programs with the same ciphers.
struct CryptoDecrypt: Verb {
    static let configuration = CommandConfiguration(
        commandName: "decrypt",
        abstract: "Decrypt a file or standard input.",
        discussion: """
              omvault crypto decrypt plan.pdf.omvf -o plan.pdf
              omvault crypto decrypt --key-from file:key.txt plan.pdf.age -o plan.pdf

            A sealed file says what opens it: a password, a key of 32 bytes (--key-from) or a private key of X25519 (--key-from with
            a key file or its 32 bytes, or --tag for a pair in the vault). Only authenticated bytes are written, and the file of -o
            appears when all of it is there. --password-from is the file's password. With --tag or om:// it is the vault's.

            An age file is recognised, also as text. --key-from is then a file of identities (AGE-SECRET-KEY-1…), encrypted or not,
            a key file of X25519, or the private key of OpenSSH that belongs to the recipient.

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
