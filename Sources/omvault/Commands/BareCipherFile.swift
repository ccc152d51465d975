// A bare cipher between `-i` and `-o`: the layouts that others write, each by its name (docs/toolkit.md).

internal import OMCrypto
internal import OMSecrets

struct BareCipherFile {
    let options: CipherOptions
    let door: Door

    /// The most that is held in memory: where a tag has to be judged first, or the result is text.
    static let mostInMemory = 256 << 20
    static let pieceCount = 256 << 10

    init(_ options: CipherOptions, _ door: Door) {
        (self.options, self.door) = (options, door)
    }

    // MARK: Gates

    /// - Throws: ``ExitStatus/unsafeAlgorithm`` for what is only made with --insecure.
    private func pass(_ algorithm: BlockAlgorithm, _ keyCount: Int?, allowsInsecure: Bool) throws(Failure) {
        guard !allowsInsecure else { return }
        let name = name(algorithm, keyCount)
        let reason: String? =
            switch (algorithm.cipher, algorithm.mode) {
            case (.insecureDES, _): "\(name) is a legacy algorithm (56-bit key, no authentication)"
            case (.insecureTripleDES, _): "\(name) is a legacy algorithm (64-bit blocks, no authentication)"
            case (.aes, .insecureECB): "\(name) shows which blocks of the message are equal"
            default: nil
            }
        if let reason { throw Self.unsafe(reason) }
        if options.zeroIV, algorithm.usesIV { throw Self.unsafeZeroIV }
        if options.openssl == .legacy {
            throw Self.unsafe("openssl's own derivation is one round of a fast hash", safe: "--openssl pbkdf2")
        }
    }

    private static func unsafe(_ reason: String, safe: String = "--alg aes-256-gcm") -> Failure {
        Failure(.unsafeAlgorithm, reason, hint: "use \(safe), or add --insecure for interoperability")
    }

    private static let unsafeZeroIV = unsafe(
        "with an IV of zeros, messages that begin alike show it", safe: "a random IV, which is the default")

    private func name(_ algorithm: BlockAlgorithm, _ keyCount: Int?) -> String {
        keyCount == nil ? options.alg ?? "" : algorithm.name(keyCount: keyCount ?? 0)
    }

    private func warn(_ algorithm: BlockAlgorithm, _ keyCount: Int?) {
        door.output.notice(
            "warning: \(name(algorithm, keyCount)) does not notice a changed message; --alg aes-256-gcm does")
    }

    // MARK: Both ways

    func encrypt(_ choice: CipherChoice, allowsInsecure: Bool) throws {
        if case .bare(let algorithm, let count) = choice {
            try pass(algorithm, count, allowsInsecure: allowsInsecure)
            if let enc = try options.opensslEnc() { return try encryptLikeOpenSSL(enc, algorithm, count) }
            return try encrypt(algorithm, count, allowsInsecure: allowsInsecure)
        }
        guard case .sealed(let algorithm, let count) = choice else { return }
        try requireSealedOptions()
        if options.zeroIV, !allowsInsecure { throw Self.unsafeZeroIV }
        let input = try InputFile(options.input)
        let secrets = try sources()
        var target = try target(isText: options.encoding == .base64)
        let key = try options.key(
            secrets, algorithm.name(keyCount: count ?? 32), count: count, allowed: algorithm.keyCounts, door)
        let given = try iv(secrets, count: algorithm.nonceCount, takesAny: algorithm == .aesGCM)
        let nonce = given ?? Random.bytes(algorithm.nonceCount)
        let data = try associatedData(secrets)
        let message = try whole(input)
        let sealed = try AuthenticatedCipher.seal(
            message, algorithm, key: key, nonceNeverUsedBefore: nonce, associatedData: data)
        let box = (given == nil ? nonce : []) + sealed.ciphertext + sealed.tag
        let written = options.encoding == .base64 ? Array((Base64.encode(box) + "\n").utf8) : box
        try target.write(written.span)
        try target.finish()
    }

    func decrypt(_ choice: CipherChoice) throws {
        if case .bare(let algorithm, let count) = choice {
            if let enc = try options.opensslEnc() {
                return try decryptLikeOpenSSL(enc, algorithm, count)
            }
            return try decrypt(algorithm, count)
        }
        guard case .sealed(let algorithm, let count) = choice else { return }
        try requireSealedOptions()
        let input = try InputFile(options.input)
        let secrets = try sources()
        var target = try target(isText: true)
        let key = try options.key(
            secrets, algorithm.name(keyCount: count ?? 32), count: count, allowed: algorithm.keyCounts, door)
        let given = try iv(secrets, count: algorithm.nonceCount, takesAny: algorithm == .aesGCM)
        let data = try associatedData(secrets)
        let box = try box(input, isText: options.encoding == .base64)
        let nonce = given ?? Array(box.prefix(algorithm.nonceCount))
        let rest = given == nil ? Array(box.dropFirst(algorithm.nonceCount)) : box
        guard nonce.count == algorithm.nonceCount || given != nil, rest.count >= AuthenticatedCipher.tagCount else {
            throw CryptoError.cannotDecrypt
        }
        let message = try AuthenticatedCipher.open(
            Array(rest.dropLast(AuthenticatedCipher.tagCount)), tag: Array(rest.suffix(AuthenticatedCipher.tagCount)),
            algorithm, key: key, nonce: nonce, associatedData: data)
        try put(message, &target)
        try target.finish()
    }

    private func requireSealedOptions() throws(Failure) {
        guard options.openssl == nil, options.encoding == nil || options.encoding == .raw || options.encoding == .base64
        else {
            throw Failure(
                .usage, "neither openssl enc nor the SDK has authenticated ciphers", hint: "--alg aes-256-cbc")
        }
    }

    // MARK: Block ciphers

    private func encrypt(_ algorithm: BlockAlgorithm, _ count: Int?, allowsInsecure: Bool) throws {
        let encoding = options.encoding ?? .raw
        guard encoding != .sdk || options.zeroIV || options.ivFrom != nil || !algorithm.usesIV else {
            throw Failure(
                .usage, "the SDK's string does not carry the IV",
                hint: "--encoding sdk-android carries it; or give --iv-from, or --zero-iv with --insecure")
        }
        let input = try InputFile(options.input)
        let secrets = try sources()
        var target = try target(isText: encoding != .raw)
        let key = try options.key(secrets, name(algorithm, count), count: count, allowed: algorithm.keyCounts, door)
        let given = try iv(secrets, count: algorithm.blockCount, takesAny: false)
        // The one gate that looks at a value: zeros are zeros, wherever they come from.
        guard allowsInsecure || !algorithm.usesIV || given?.contains(where: { $0 != 0 }) != false else {
            throw Self.unsafeZeroIV
        }
        if !algorithm.isInsecure { warn(algorithm, count) }
        // Android's strings put a random block in front in ECB too, where it means nothing.
        let carries = given == nil && (algorithm.usesIV || encoding == .sdkAndroid)
        let iv = given ?? Random.bytes(algorithm.blockCount)
        var cipher = try BlockCipher(
            .encrypt, unauthenticated: algorithm, key: key, iv: iv, padding: options.padding.ours)
        guard encoding != .raw else {
            if carries { try target.write(iv.span) }
            try stream(input, &cipher, &target)
            return try target.finish()
        }
        let message = try whole(input)
        let ciphertext = try BlockCipher.encrypt(
            message, unauthenticated: algorithm, key: key, iv: iv, padding: options.padding.ours)
        let text = Base64.encode((carries ? iv : []) + ciphertext)
        let prefix: String =
            switch encoding {
            case .raw, .base64: ""
            case .sdk: "{\(algorithm.cipher.sdkName)}"
            case .sdkAndroid: "{\(Transformation(algorithm, options.padding.ours).text)}"
            }
        try target.write(Array((prefix + text + "\n").utf8).span)
        try target.finish()
    }

    private func decrypt(_ named: BlockAlgorithm, _ count: Int?) throws {
        let encoding = options.encoding ?? .raw
        let input = try InputFile(options.input)
        let secrets = try sources()
        var target = try target(isText: true)
        let key = try options.key(secrets, name(named, count), count: count, allowed: named.keyCounts, door)
        let given = try iv(secrets, count: named.blockCount, takesAny: false)
        if !named.isInsecure { warn(named, count) }
        guard encoding != .raw else {
            var iv = given ?? []
            if given == nil, named.usesIV {
                iv = try start(input, count: named.blockCount)
                guard iv.count == named.blockCount else { throw CryptoError.cannotDecrypt }
            }
            var cipher = try BlockCipher(
                .decrypt, unauthenticated: named, key: key, iv: iv, padding: options.padding.ours)
            try stream(input, &cipher, &target)
            return try target.finish()
        }
        let text = try text(input)
        let (algorithm, padding, base64) = try parts(text, encoding, named)
        let box = try Base64.decode(base64)
        let carries = given == nil && (encoding == .sdkAndroid || algorithm.usesIV && encoding == .base64)
        guard !carries || box.count >= algorithm.blockCount else { throw CryptoError.cannotDecrypt }
        guard given != nil || carries || !algorithm.usesIV else {
            throw Failure(.usage, "the SDK's string does not carry the IV", hint: "give --iv-from or --zero-iv")
        }
        let message = try BlockCipher.decrypt(
            carries ? Array(box.dropFirst(algorithm.blockCount)) : box, unauthenticated: algorithm, key: key,
            iv: given ?? Array(box.prefix(carries ? algorithm.blockCount : 0)), padding: padding)
        try put(message, &target)
        try target.finish()
    }

    /// The algorithm, the padding and the base64 text of a string, whose prefix must be of the cipher that was asked
    /// for.
    private func parts(
        _ text: String, _ encoding: CipherOptions.Encoding, _ named: BlockAlgorithm
    ) throws -> (BlockAlgorithm, BlockPadding, String) {
        switch encoding {
        case .raw, .base64: return (named, options.padding.ours, text)
        case .sdk:
            let prefix = "{\(named.cipher.sdkName)}"
            guard text.hasPrefix(prefix) else { throw CryptoError.notPrefixed }
            return (named, options.padding.ours, String(text.dropFirst(prefix.count)))
        case .sdkAndroid:
            let (transformation, base64) = try Transformation.split(text)
            guard transformation.algorithm.cipher == named.cipher else { throw CryptoError.notPrefixed }
            return (transformation.algorithm, transformation.padding, base64)
        }
    }

    // MARK: openssl enc

    private func encryptLikeOpenSSL(_ enc: OpenSSLEnc, _ algorithm: BlockAlgorithm, _ count: Int?) throws {
        let input = try InputFile(options.input)
        let secrets = try sources()
        var target = try target(isText: false)
        let password = try secrets.readPassword("--password-from", prompt: "New password", isNew: true)
        if !algorithm.isInsecure { warn(algorithm, count) }
        let header = OpenSSLEnc.newHeader()
        var cipher = try enc.cipher(
            .encrypt, unauthenticated: algorithm, keyCount: try keyCount(algorithm, count),
            padding: options.padding.ours, password: password.bytes, header: header,
            limit: options.key.opening.work.limit)
        try target.write(header.span)
        try stream(input, &cipher, &target)
        try target.finish()
    }

    private func decryptLikeOpenSSL(_ enc: OpenSSLEnc, _ algorithm: BlockAlgorithm, _ count: Int?) throws {
        let input = try InputFile(options.input)
        let secrets = try sources()
        var target = try target(isText: true)
        let password = try secrets.readPassword("--password-from", prompt: "Password")
        if !algorithm.isInsecure { warn(algorithm, count) }
        let header = try start(input, count: OpenSSLEnc.headerCount)
        var cipher = try enc.cipher(
            .decrypt, unauthenticated: algorithm, keyCount: try keyCount(algorithm, count),
            padding: options.padding.ours, password: password.bytes, header: header,
            limit: options.key.opening.work.limit)
        try stream(input, &cipher, &target)
        try target.finish()
    }

    private func keyCount(_ algorithm: BlockAlgorithm, _ named: Int?) throws(Failure) -> Int {
        if let named { return named }
        guard algorithm.cipher != .aes else {
            throw Failure(.usage, "--openssl needs the key's length in the name", hint: "--alg aes-256-cbc")
        }
        return algorithm.cipher == .insecureTripleDES ? 24 : 8
    }
}
