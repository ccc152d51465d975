// Ciphers under a passphrase: the format of `openssl enc`, and PBES2 (RFC 8018 section 6.2).

internal import OMCrypto
internal import OMSecrets

/// `Salted__` ‖ salt ‖ ciphertext, decrypted and encrypted. Nothing in it detects a wrong password, so another message counts
/// as one.
struct OpenSSLEncCheck: VectorCheck {
    let form: OpenSSLEnc
    let algorithm: BlockAlgorithm
    let keyCount: Int
    let password: [UInt8]
    let message: [UInt8]
    let sealed: [UInt8]

    func run() -> CheckOutcome {
        let (header, body) = (Array(sealed.prefix(OpenSSLEnc.headerCount)), sealed.dropFirst(OpenSSLEnc.headerCount))
        do {
            guard try run(.decrypt, header, Array(body)) == message else {
                return .differs("the decrypted message is another")
            }
            return try run(.encrypt, header, message) == Array(body) ? .agrees : .differs("the ciphertext is another")
        } catch {
            return .refused("\(error)")
        }
    }

    private func run(
        _ direction: BlockCipher.Direction, _ header: [UInt8], _ input: [UInt8]
    ) throws(CryptoError) -> [UInt8] {
        var cipher = try form.cipher(
            direction, unauthenticated: algorithm, keyCount: keyCount, password: SecretBytes(copying: password),
            header: header)
        var output = SecretBuffer(capacity: input.count + 32)
        output.append(try cipher.update(input.span))
        output.append(try cipher.finish())
        return output.withBytes { [UInt8](copying: $0) }
    }
}

/// AES-CBC under a key of PBKDF2.
struct PBES2Check: VectorCheck {
    let hash: DigestAlgorithm
    let keyCount: Int
    let password: [UInt8]
    let salt: [UInt8]
    let iterations: Int
    let iv: [UInt8]
    let message: [UInt8]?
    let ciphertext: [UInt8]

    func run() -> CheckOutcome {
        do {
            let key = try KeyDerivation.pbkdf2(
                hash, SecretBytes(copying: password), salt: salt, iterations: iterations, count: keyCount)
            return BlockCheck(
                key: key.withBytes { [UInt8](copying: $0) }, iv: iv, padding: .pkcs7, message: message,
                ciphertext: ciphertext
            ).run()
        } catch {
            return .refused("\(error)")
        }
    }
}

enum PassphraseCipherKinds {
    static let all = [openssl, wycheproof]

    /// The most iterations that one case may ask for.
    private static let mostIterations = 10_000_000

    private static let openssl = VectorKind.native(
        "openssl-enc", params: ["cipher", "mode", "keyBits", "blockBytes", "kdf", "hash", "iterations"],
        test: ["passwordHex", "msg", "ct"]
    ) { (group) throws(UnreadableFile) in
        let parameters = group.parameters
        guard let algorithm = try BlockKinds.algorithm(parameters),
            let hash = try? DigestAlgorithm(named: try parameters.text("hash"))
        else { return nil }
        guard try parameters.number("blockBytes") == algorithm.blockCount else {
            throw parameters.wrong("blockBytes", "\(algorithm.blockCount)")
        }
        let (keyBits, iterations) = (try parameters.number("keyBits"), try parameters.number("iterations"))
        guard iterations <= mostIterations else { return .skip("PBKDF2 above the cap on work") }
        let derivation: OpenSSLEnc.Derivation
        switch try parameters.text("kdf") {
        case "pbkdf2": derivation = .pbkdf2(iterations: iterations)
        case "evp" where iterations == 1: derivation = Insecure.bytesToKey
        default: throw parameters.wrong("kdf", "pbkdf2 or evp (with one iteration)")
        }
        return .each(flips: ["passwordHex", "msg", "ct"]) { (test, _) throws(UnreadableFile) in
            .run(
                OpenSSLEncCheck(
                    form: OpenSSLEnc(derivation, hash), algorithm: algorithm, keyCount: keyBits / 8,
                    password: try test.bytes("passwordHex"), message: try test.bytes("msg"),
                    sealed: try test.bytes("ct")))
        }
    }

    /// `PbeWithHmacSha256AndAes_128`.
    private static let wycheproof = VectorKind.wycheproof("PbeTest") { (group) throws(UnreadableFile) in
        let name = group.algorithm
        guard name.hasPrefix("PbeWithHmacSha"), let and = name.firstRange(of: "AndAes_"),
            let hash = try? DigestAlgorithm(named: "sha\(name[..<and.lowerBound].dropFirst(14))"),
            let bits = Int(name[and.upperBound...]), [128, 192, 256].contains(bits)
        else { return nil }
        let flips = ["password", "salt", "iv", "msg", "ct"]
        return .each(flips: flips) { (test, expectation) throws(UnreadableFile) in
            let iterations = try test.number("iterationCount")
            guard (1...mostIterations).contains(iterations) else { return .skip("PBKDF2 above the cap on work") }
            return .run(
                PBES2Check(
                    hash: hash, keyCount: bits / 8, password: try test.bytes("password"),
                    salt: try test.bytes("salt"), iterations: iterations, iv: try test.bytes("iv", count: 16),
                    message: expectation == .invalid ? nil : try test.bytes("msg"),
                    ciphertext: try test.bytes("ct")))
        }
    }
}
