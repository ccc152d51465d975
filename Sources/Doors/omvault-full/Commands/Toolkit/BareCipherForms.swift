// Two complete formats of other programs: the SDK's strings, and files that `openssl enc` makes with a password.

internal import OMCrypto
internal import OMSecrets
internal import OMShell

// MARK: The SDK's strings

extension BareCipherFile {
    /// Uses the SDK's own call. Its rules are narrower: no CTR, no empty message, and Triple DES with three keys only.
    func encryptLikeSDK(_ algorithm: BlockAlgorithm, _ count: Int?, allowsInsecure: Bool) throws {
        let mode = try sdkMode(algorithm)
        guard options.zeroIV || givesIV || !algorithm.usesIV else {
            throw Failure(
                .usage, "the SDK's string does not carry the IV",
                hint: "--encoding sdk-android carries it; or give --iv-from, or --zero-iv with --insecure")
        }
        let input = try InputFile(options.data)
        let secrets = try sources()
        var target = try target(isText: true)
        let key = try options.key(secrets, name(algorithm, count), count: count, allowed: algorithm.keyCounts, context)
        let given = try iv(secrets, count: algorithm.blockCount, takesAny: false)
        try refuseZeros(algorithm.usesIV ? given : nil, allowsInsecure: allowsInsecure)
        if !algorithm.isInsecure { warn(algorithm, count) }
        let message = try whole(input)
        let form = try Insecure.SDKCipher.encrypt(
            unauthenticated: message, key: key, iv: given, algorithm: algorithm.cipher.sdkName,
            padding: options.padding == .some(.none) ? .none : .pkcs7, mode: mode, base64: true, prefix: true)
        guard case .text(let text) = form else { preconditionFailure("base64 is text") }
        try target.write(Array((text + "\n").utf8).span)
        try target.finish(context)
    }

    func decryptLikeSDK(_ algorithm: BlockAlgorithm, _ count: Int?) throws {
        let mode = try sdkMode(algorithm)
        guard options.zeroIV || givesIV || !algorithm.usesIV else {
            throw Failure(.usage, "the SDK's string does not carry the IV", hint: "give --iv-from or --zero-iv")
        }
        let input = try InputFile(options.data)
        let secrets = try sources()
        var target = try target(isText: true)
        let key = try options.key(secrets, name(algorithm, count), count: count, allowed: algorithm.keyCounts, context)
        let given = try iv(secrets, count: algorithm.blockCount, takesAny: false)
        if !algorithm.isInsecure { warn(algorithm, count) }
        let text = try text(input)
        do {
            let message = try Insecure.SDKCipher.decrypt(
                unauthenticated: .text(text), key: key, iv: given, algorithm: algorithm.cipher.sdkName,
                padding: options.padding == .some(.none) ? .none : .pkcs7, mode: mode, prefixed: true, base64: true)
            try put(message, &target)
        } catch CryptoError.notPrefixed { throw otherPrefix(algorithm) }
        try target.finish(context)
    }

    private var givesIV: Bool { (options.ivFrom ?? "random") != "random" }

    private func sdkMode(_ algorithm: BlockAlgorithm) throws(Failure) -> Insecure.SDKCipher.Mode {
        switch algorithm.mode.kind {
        case .cbc: return .cbc
        case .insecureECB: return .ecb
        case .ctr:
            throw Failure(
                .usage, "the SDK's strings exist for CBC and ECB only",
                hint: "--encoding sdk-android names the mode; --encoding base64 works for every mode")
        }
    }

    /// The error for a string of another cipher, or for other text.
    func otherPrefix(_ algorithm: BlockAlgorithm) -> Failure {
        let name = algorithm.cipher.sdkName
        let expected = options.encoding == .sdk ? "{\(name)}" : "{\(name)/…}"
        return Failure(
            .corrupt, "the text does not begin with \(expected), which --alg asks for",
            hint: "the name in its braces is the algorithm: give it with --alg"
        ).with(sdkCode: CryptoError.notPrefixed.sdkCode)
    }
}

// MARK: openssl enc

extension BareCipherFile {
    func encryptLikeOpenSSL(_ enc: OpenSSLEnc, _ algorithm: BlockAlgorithm, _ count: Int?) throws {
        let isText = options.encoding == .base64
        let input = try InputFile(options.data)
        let secrets = try sources()
        var target = try target(isText: isText)
        let password = try secrets.readNewPassword("--password-from", prompt: "New password")
        if !algorithm.isInsecure { warn(algorithm, count) }
        context.output.warn(ofUsing: enc.hash, instead: "--openssl-hash sha256")
        let header = OpenSSLEnc.newHeader()
        var cipher = try enc.cipher(
            .encrypt, unauthenticated: algorithm, keyCount: try keyCount(algorithm, count),
            padding: options.blockPadding, password: password.bytes, header: header,
            limit: options.key.work.limit)
        if isText {
            try target.write(lines(header + ciphertext(of: whole(input), &cipher)).span)
        } else {
            try target.write(header.span)
            try stream(input, &cipher, &target)
        }
        try target.finish(context)
    }

    func decryptLikeOpenSSL(_ enc: OpenSSLEnc, _ algorithm: BlockAlgorithm, _ count: Int?) throws {
        let input = try InputFile(options.data)
        let secrets = try sources()
        var target = try target(isText: true)
        let password = try secrets.readPassword("--password-from", prompt: "Password")
        if !algorithm.isInsecure { warn(algorithm, count) }
        let box = options.encoding == .base64 ? try decodedLines(input) : nil
        let header =
            try box.map { Array($0.prefix(OpenSSLEnc.headerCount)) }
            ?? start(input, count: OpenSSLEnc.headerCount)
        var cipher = try enc.cipher(
            .decrypt, unauthenticated: algorithm, keyCount: try keyCount(algorithm, count),
            padding: options.blockPadding, password: password.bytes, header: header,
            limit: options.key.work.limit)
        if let box {
            var place = header.count
            try stream(total: box.count, &cipher, &target) { room in
                let count = min(room.count, box.count - place)
                for index in 0..<count { room[index] = box[place + index] }
                place += count
                return count
            }
        } else {
            try stream(input, &cipher, &target)
        }
        try target.finish(context)
    }

    private func ciphertext(
        of message: borrowing SecretBytes, _ cipher: inout BlockCipher
    ) throws(CryptoError) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: cipher.outputCount(for: message.count))
        var last = [UInt8](repeating: 0, count: cipher.outputCount(for: 0))
        var room = output.mutableSpan
        let written = try message.withBytes { (bytes) throws(CryptoError) in try cipher.update(bytes, into: &room) }
        var lastRoom = last.mutableSpan
        let ending = try cipher.finish(into: &lastRoom)
        return Array(output.prefix(written)) + last.prefix(ending)
    }

    /// Base64 in lines of 64 digits, as `openssl enc -a` writes and reads it.
    private func lines(_ bytes: [UInt8]) -> [UInt8] {
        let text = Array(Base64.encode(bytes).utf8)
        var lines: [UInt8] = []
        lines.reserveCapacity(text.count + text.count / 64 + 1)
        for start in stride(from: 0, to: text.count, by: 64) {
            lines += text[start..<min(start + 64, text.count)]
            lines.append(UInt8(ascii: "\n"))
        }
        return lines
    }

    private func keyCount(_ algorithm: BlockAlgorithm, _ named: Int?) throws(Failure) -> Int {
        if let named { return named }
        guard algorithm.cipher != .aes else {
            throw Failure(.usage, "--openssl needs the key's length in the name", hint: "--alg aes-256-cbc")
        }
        return algorithm.cipher == .insecureTripleDES ? 24 : 8
    }
}
