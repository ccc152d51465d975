internal import OMCrypto
internal import OMShell

/// The chosen cipher: a container, or a bare cipher.
enum CipherChoice {
    case container(FileAlgorithm)
    case sealed(AEADAlgorithm, keyCount: Int?)
    case bare(BlockAlgorithm, keyCount: Int?)
}

extension CipherOptions {
    static let algorithms = """
        \(FileAlgorithm.allCases.map(\.name).joined(separator: ", ")); bare: aes-128-gcm, xchacha20-poly1305, \
        aes-256-cbc, aes-256-ctr and the others that 'omvault crypto algs' lists
        """

    /// If only a bare cipher has the name, the bare cipher is chosen, with or without --raw.
    ///
    /// - Throws: ``ExitStatus/usage`` for an unknown name, and for an option without effect.
    func choice() throws(Failure) -> CipherChoice {
        let name = alg ?? FileAlgorithm.aes256GCM.name
        if !raw, openssl == nil, let algorithm = try? FileAlgorithm(named: name) {
            if let option = bareOption {
                throw Failure(
                    .usage, "\(option) is for bare ciphers, and without --raw \(name) makes a container",
                    hint: "add --raw, or leave out \(option)")
            }
            return .container(algorithm)
        }
        if let (algorithm, count) = try? AEADAlgorithm.named(name) {
            guard padding == nil else { throw Failure(.usage, "\(name) is never padded", hint: "leave out --padding") }
            return .sealed(algorithm, keyCount: count)
        }
        guard let (algorithm, count) = try? BlockAlgorithm.named(name) else {
            let near = AlgorithmName.nearest(to: name, among: ["container", "cipher"])
            throw Failure(.usage, "there is no cipher \"\(name)\"", hint: near ?? "one of: \(Self.algorithms)")
                .with(sdkCode: CryptoError.unknownAlgorithm.sdkCode)
        }
        guard aadFrom == nil else {
            throw Failure(
                .usage, "\(name) cannot authenticate associated data",
                hint: "use --raw --alg aes-256-gcm, or leave out --aad-from")
        }
        guard padding != .pkcs7 || algorithm.usesPadding else {
            throw Failure(.usage, "\(name) is never padded", hint: "leave out --padding")
        }
        return .bare(algorithm, keyCount: count)
    }

    /// A given option that has no effect on a container.
    private var bareOption: String? {
        let given = [
            ("--encoding", encoding != nil), ("--iv-from", ivFrom != nil), ("--zero-iv", zeroIV),
            ("--aad-from", aadFrom != nil), ("--padding", padding != nil),
        ]
        return given.first { $0.1 }?.0
    }
}
