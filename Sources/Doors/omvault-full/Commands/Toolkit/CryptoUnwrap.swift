internal import ArgumentParser
internal import OMCrypto
internal import OMSecrets

/// `omvault crypto unwrap`.
struct CryptoUnwrap: Verb {
    static let configuration = CommandConfiguration(
        commandName: "unwrap",
        abstract: "Unwrap a key.",
        discussion: """
            Exits with 30 if the wrapping key is another one, or if the wrapped key was changed; it cannot tell which.

              omvault crypto unwrap --kek-from file:kek --key-from file:key.wrapped -o key
              omvault crypto unwrap --alg rsa-oaep-sha256 --kek-from om://main/mine --key-from file:key.wrapped
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var wrap: WrapOptions

    func run(_ context: CommandContext) throws {
        let algorithm = try WrapAlgorithm(named: wrap.alg)
        try wrap.requireApplicable(to: algorithm)
        let secrets = try wrap.sources(context)
        switch algorithm {
        case .aes(let kind):
            let wrappingKey = try wrap.wrappingKey(secrets, context)
            let wrapped = try wrap.key(secrets, prompt: "Wrapped key (\(wrap.keyEncoding.rawValue))")
            try wrap.write(kind.unwrap(wrapped.withBytes { [UInt8](copying: $0) }, under: wrappingKey), context)
        case .publicKey(let kind):
            let holder = try wrap.privateHolder(secrets, context)
            let wrapped = try wrap.key(secrets, prompt: "Wrapped key (\(wrap.keyEncoding.rawValue))")
            try wrap.write(kind.unwrap(wrapped.publicBytes(), under: holder, wrap.publicKey), context)
        }
    }
}
