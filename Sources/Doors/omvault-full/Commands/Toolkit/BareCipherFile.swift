// Encrypts and decrypts with a bare cipher from `-i` to `-o`, in the formats of other programs (docs/reference/toolkit.md).

internal import OMCrypto
internal import OMSecrets
internal import OMShell

struct BareCipherFile {
    let options: CipherOptions
    let context: CommandContext

    /// The limit of data in memory, for formats with a tag that is checked first, and for text.
    static let mostInMemory = 256 << 20
    /// The same as base64, in lines or not.
    static let mostText = mostInMemory / 2 * 3
    static let pieceCount = 256 << 10

    init(_ options: CipherOptions, _ context: CommandContext) {
        (self.options, self.context) = (options, context)
    }

    // MARK: Gates

    /// - Throws: ``ExitStatus/unsafeAlgorithm`` for formats that need --insecure.
    func pass(_ algorithm: BlockAlgorithm, _ keyCount: Int?, allowsInsecure: Bool) throws(Failure) {
        guard !allowsInsecure else { return }
        let name = name(algorithm, keyCount)
        let reason: String? =
            switch (algorithm.cipher.kind, algorithm.mode.kind) {
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
        if let iterations = options.opensslIterations, iterations < CipherOptions.opensslIterations {
            throw Self.unsafe(
                "so few iterations do not protect a password",
                safe: "--openssl-iterations \(CipherOptions.opensslIterations) or more")
        }
    }

    private static func unsafe(_ reason: String, safe: String = "--alg aes-256-gcm") -> Failure {
        Failure(.unsafeAlgorithm, reason, hint: "use \(safe), or add --insecure for interoperability")
    }

    /// This check looks at the IV itself: an IV of zeros is unsafe, wherever it comes from.
    func refuseZeros(_ given: [UInt8]?, allowsInsecure: Bool) throws(Failure) {
        guard allowsInsecure || given?.contains(where: { $0 != 0 }) != false else { throw Self.unsafeZeroIV }
    }

    private static let unsafeZeroIV = unsafe(
        "with an IV of zeros, an attacker sees which messages begin alike", safe: "a random IV, which is the default")

    func name(_ algorithm: BlockAlgorithm, _ keyCount: Int?) -> String {
        keyCount == nil ? options.alg ?? "" : algorithm.name(keyCount: keyCount ?? 0)
    }

    func warn(_ algorithm: BlockAlgorithm, _ keyCount: Int?) {
        context.output.notice(
            "warning: \(name(algorithm, keyCount)) does not notice a changed message; --alg aes-256-gcm does")
    }

    // MARK: Both ways

    func encrypt(_ choice: CipherChoice, allowsInsecure: Bool) throws {
        if case .bare(let algorithm, let count) = choice {
            try pass(algorithm, count, allowsInsecure: allowsInsecure)
            if let enc = try options.opensslEnc() { return try encryptLikeOpenSSL(enc, algorithm, count) }
            if options.encoding == .sdk {
                return try encryptLikeSDK(algorithm, count, allowsInsecure: allowsInsecure)
            }
            return try encrypt(algorithm, count, allowsInsecure: allowsInsecure)
        }
        guard case .sealed(let algorithm, let count) = choice else { return }
        try requireSealedOptions()
        if options.zeroIV, !allowsInsecure { throw Self.unsafeZeroIV }
        let input = try InputFile(options.data)
        let secrets = try sources()
        var target = try target(isText: options.encoding == .base64)
        let key = try options.key(
            secrets, algorithm.name(keyCount: count ?? 32), count: count, allowed: algorithm.keyCounts, context)
        let given = try iv(secrets, count: algorithm.nonceCount, takesAny: algorithm == .aesGCM)
        try refuseZeros(given, allowsInsecure: allowsInsecure)
        let nonce = given ?? Random.bytes(algorithm.nonceCount)
        let data = try associatedData(secrets)
        let message = try whole(input)
        let sealed = try AuthenticatedCipher.seal(
            message, algorithm, key: key, nonceNeverUsedBefore: nonce, associatedData: data)
        let box = (given == nil ? nonce : []) + sealed.ciphertext + sealed.tag
        let written = options.encoding == .base64 ? Array((Base64.encode(box) + "\n").utf8) : box
        try target.write(written.span)
        try target.finish(context)
    }

    func decrypt(_ choice: CipherChoice) throws {
        if case .bare(let algorithm, let count) = choice {
            if let enc = try options.opensslEnc() {
                return try decryptLikeOpenSSL(enc, algorithm, count)
            }
            if options.encoding == .sdk { return try decryptLikeSDK(algorithm, count) }
            return try decrypt(algorithm, count)
        }
        guard case .sealed(let algorithm, let count) = choice else { return }
        try requireSealedOptions()
        let input = try InputFile(options.data)
        let secrets = try sources()
        var target = try target(isText: true)
        let key = try options.key(
            secrets, algorithm.name(keyCount: count ?? 32), count: count, allowed: algorithm.keyCounts, context)
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
        try target.finish(context)
    }

    private func requireSealedOptions() throws(Failure) {
        guard options.openssl == nil, options.encoding == nil || options.encoding == .raw || options.encoding == .base64
        else {
            throw Failure(
                .usage, "openssl enc and the SDK have no authenticated ciphers", hint: "--alg aes-256-cbc")
        }
    }

    // MARK: Block ciphers

    private func encrypt(_ algorithm: BlockAlgorithm, _ count: Int?, allowsInsecure: Bool) throws {
        let encoding = options.encoding ?? .raw
        let input = try InputFile(options.data)
        let secrets = try sources()
        var target = try target(isText: encoding != .raw)
        let key = try options.key(secrets, name(algorithm, count), count: count, allowed: algorithm.keyCounts, context)
        let given = try iv(secrets, count: algorithm.blockCount, takesAny: false)
        try refuseZeros(algorithm.usesIV ? given : nil, allowsInsecure: allowsInsecure)
        if !algorithm.isInsecure { warn(algorithm, count) }
        // Android's strings start with a random block in ECB too, where it has no effect.
        let carries = given == nil && (algorithm.usesIV || encoding == .sdkAndroid)
        let iv = given ?? Random.bytes(algorithm.blockCount)
        var cipher = try BlockCipher(
            .encrypt, unauthenticated: algorithm, key: key, iv: iv, padding: options.blockPadding)
        guard encoding != .raw else {
            if carries { try target.write(iv.span) }
            try stream(input, &cipher, &target)
            return try target.finish(context)
        }
        let message = try whole(input)
        let ciphertext = try BlockCipher.encrypt(
            message, unauthenticated: algorithm, key: key, iv: iv, padding: options.blockPadding)
        let text = Base64.encode((carries ? iv : []) + ciphertext)
        let prefix: String =
            switch encoding {
            case .raw, .base64, .sdk: ""
            case .sdkAndroid: "{\(Transformation(algorithm, options.blockPadding).text)}"
            }
        try target.write(Array((prefix + text + "\n").utf8).span)
        try target.finish(context)
    }

    private func decrypt(_ named: BlockAlgorithm, _ count: Int?) throws {
        let encoding = options.encoding ?? .raw
        guard encoding != .sdkAndroid || options.padding == nil else {
            throw Failure(.usage, "the text of sdk-android already names its padding", hint: "leave out --padding")
        }
        let input = try InputFile(options.data)
        let secrets = try sources()
        var target = try target(isText: true)
        let key = try options.key(secrets, name(named, count), count: count, allowed: named.keyCounts, context)
        let given = try iv(secrets, count: named.blockCount, takesAny: false)
        if !named.isInsecure { warn(named, count) }
        guard encoding != .raw else {
            var iv = given ?? []
            if given == nil, named.usesIV {
                iv = try start(input, count: named.blockCount)
                guard iv.count == named.blockCount else { throw CryptoError.cannotDecrypt }
            }
            var cipher = try BlockCipher(
                .decrypt, unauthenticated: named, key: key, iv: iv, padding: options.blockPadding)
            try stream(input, &cipher, &target)
            return try target.finish(context)
        }
        let (algorithm, padding, box) = try parts(input, encoding, named)
        let carries = given == nil && (encoding == .sdkAndroid || algorithm.usesIV)
        guard !carries || box.count >= algorithm.blockCount else { throw CryptoError.cannotDecrypt }
        let message = try BlockCipher.decrypt(
            carries ? Array(box.dropFirst(algorithm.blockCount)) : box, unauthenticated: algorithm, key: key,
            iv: given ?? Array(box.prefix(carries ? algorithm.blockCount : 0)), padding: padding)
        try put(message, &target)
        try target.finish(context)
    }

    /// The algorithm, the padding and the bytes of a text. Its prefix must name the requested cipher.
    private func parts(
        _ input: borrowing InputFile, _ encoding: CipherOptions.Encoding, _ named: BlockAlgorithm
    ) throws -> (BlockAlgorithm, BlockPadding, [UInt8]) {
        guard encoding == .sdkAndroid else { return (named, options.blockPadding, try decodedLines(input)) }
        let parts: (transformation: Transformation, base64: String)
        do { parts = try Transformation.split(text(input)) } catch CryptoError.notPrefixed { throw otherPrefix(named) }
        guard parts.transformation.algorithm.cipher == named.cipher else { throw otherPrefix(named) }
        return (parts.transformation.algorithm, parts.transformation.padding, try decoded(parts.base64))
    }
}
