internal import ArgumentParser
internal import OMCrypto
internal import OMSecrets
internal import OMShell

/// `omvault crypto wrap`: encrypts one key with another.
struct CryptoWrap: Verb {
    static let configuration = CommandConfiguration(
        commandName: "wrap",
        abstract: "Wrap a key with another key.",
        discussion: """
            Algorithms: \(WrapAlgorithm.names) (RFC 3394, RFC 5649, RFC 8017, libsodium's sealed box).
            rsa-oaep-HASH, rsa-pkcs1 and x25519 take a public key file as --kek-from. rsa-pkcs1, RSA below 2048 bits and MD5
            need --insecure. A wrapping key may be in a vault: --kek-from om://VAULT/ITEM. --password-from is then the
            vault's.

              omvault crypto wrap --kek-from file:kek --key-from file:key -o key.wrapped
              omvault crypto wrap --alg rsa-oaep-sha256 --kek-from file:theirs.pem --key-from file:key -o key.wrapped
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var wrap: WrapOptions

    @Flag(help: "Allow what is only there for old programs.")
    var insecure = false

    func run(_ context: CommandContext) throws {
        let algorithm = try WrapAlgorithm(named: wrap.alg)
        try wrap.requireApplicable(to: algorithm)
        let secrets = try wrap.sources(context)
        switch algorithm {
        case .aes(let kind):
            let wrappingKey = try wrap.wrappingKey(secrets, context)
            let key = try wrap.key(secrets, prompt: "Key to wrap (\(wrap.keyEncoding.rawValue))")
            guard key.count > 0 else { throw Failure(usage: "--key-from: the key to wrap is empty") }
            try wrap.write(SecretBytes(copying: kind.wrap(key, under: wrappingKey)), context)
        case .publicKey(let kind):
            try kind.requireInsecure(insecure)
            let holder = try wrap.holder(secrets, context)
            let hashes = try kind.hashes(wrap.publicKey)
            if !insecure {
                try InsecureCheck.check(holder.kind)
                try hashes.forEach(InsecureCheck.check)
            }
            if hashes.contains(.insecureSHA1) {
                context.output.notice("warning: SHA-1 is for interoperability only; --alg rsa-oaep-sha256 does not need it")
            }
            let key = try wrap.key(secrets, prompt: "Key to wrap (\(wrap.keyEncoding.rawValue))")
            try wrap.write(SecretBytes(copying: kind.wrap(key, under: holder, wrap.publicKey)), context)
        }
    }
}
