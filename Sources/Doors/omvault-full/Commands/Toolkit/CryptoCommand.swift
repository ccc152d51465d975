internal import ArgumentParser

struct CryptoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "crypto",
        abstract: "Hash, encrypt and sign files with named algorithms.",
        subcommands: [
            CryptoHash.self, CryptoCheck.self, CryptoPasswordHash.self, CryptoHMAC.self, CryptoKDF.self,
            CryptoRand.self, CryptoOTPURI.self,
            CryptoEncrypt.self, CryptoDecrypt.self, CryptoWrap.self, CryptoUnwrap.self,
            CryptoKeygen.self, CryptoPubkey.self, CryptoInspect.self, CryptoConvert.self, CryptoKeyRemove.self,
            CryptoSign.self, CryptoVerify.self, CryptoAgree.self, CryptoAlgs.self,
        ])
}
