internal import OMCrypto
internal import OMSecrets

/// How to open a key file, or the vault that holds a key: three groups of options as one value.
struct KeyOpening {
    let keyFile: KeyFileOptions
    let work: WorkOptions
    let unlock: UnlockOptions

    var file: KeyFileOpening {
        KeyFileOpening(passwordOption: "--key-password-from", limit: work.limit, identity: keyFile.identity)
    }

    var sources: [(key: String, value: SecretSourceArgument?)] {
        [("--key-password-from", keyFile.keyPasswordFrom)] + unlock.sources
    }
}
