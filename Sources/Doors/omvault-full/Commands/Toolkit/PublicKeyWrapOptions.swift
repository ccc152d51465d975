internal import ArgumentParser
internal import OMCrypto

struct PublicKeyWrapOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Where the password of an encrypted --kek-from comes from.", valueName: "source"))
    var kekPasswordFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("rsa-oaep: the hash of the mask. The default is the hash of --alg.", valueName: "hash"))
    var mgf: String?

    @Option(help: ArgumentHelp("rsa-oaep: the label, as text.", valueName: "text"))
    var label = ""

    func oaep(_ hash: DigestAlgorithm) throws(CryptoError) -> OAEP {
        let mask: DigestAlgorithm? = if let mgf { try DigestAlgorithm(named: mgf) } else { nil }
        return OAEP(hash, mask: mask, label: Array(label.utf8))
    }
}
