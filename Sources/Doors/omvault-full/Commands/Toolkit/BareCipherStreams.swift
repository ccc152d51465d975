// The inputs and outputs of a bare cipher: its key, its IV, and the two streams.

internal import OMCrypto
internal import OMSecrets
internal import OMShell

extension BareCipherFile {
    func sources() throws(Failure) -> SecretSources {
        guard options.openssl != nil || options.passwordFrom == nil || options.key.isInVault else {
            throw Failure(
                .usage, "a bare cipher takes a key, not a password",
                hint: "give --key-from; or --openssl pbkdf2, which derives a key from a password; or leave out --raw")
        }
        try options.refuseIdle(
            options.openssl == nil ? "a bare cipher under a key" : "--openssl", takesKey: options.openssl == nil,
            takesWork: options.openssl == .pbkdf2)
        var given: [(key: String, value: SecretSourceArgument?)] =
            options.openssl != nil
            ? [("--password-from", options.passwordFrom)]
            : options.key.isInVault ? options.key.sources : [("--key-from", options.key.keyFrom?.source)]
        if let ivFrom = options.ivFrom, ivFrom != "random" {
            given.append(("--iv-from", SecretSourceArgument(argument: ivFrom)))
        }
        if let aadFrom = options.aadFrom { given.append(("--aad-from", aadFrom)) }
        return try SecretSources(
            context, given, standardInputIsDataOf: InputFile.isStandardInput(options.data) ? "-i" : nil)
    }

    func target(isText: Bool) throws(Failure) -> OutputFile {
        let target = try OutputFile(options.output, replacing: options.force)
        guard isText || !target.isStandardOutput || !StandardOutput.isTerminal else {
            throw Failure(
                .usage, "a ciphertext is not text, and standard output is a terminal",
                hint: "give -o FILE or --encoding base64")
        }
        return target
    }

    /// The given IV. Nil if it is random: then the output contains it.
    func iv(
        _ secrets: borrowing SecretSources, count: Int, takesAny: Bool
    ) throws(Failure) -> [UInt8]? {
        if options.zeroIV { return [UInt8](repeating: 0, count: count) }
        guard let ivFrom = options.ivFrom, ivFrom != "random" else { return nil }
        let iv = try secrets.readBytes("--iv-from", prompt: "IV", options.ivEncoding ?? .raw)
        guard iv.count == count || takesAny && iv.count > 0 else {
            throw Failure(
                .usage, "the IV has \(iv.count.of("byte")); \(count) are needed",
                hint: "for an IV as text, give --iv-encoding hex or base64"
            ).with(sdkCode: CryptoError.ivLength.sdkCode)
        }
        return iv.withBytes { [UInt8](copying: $0) }
    }

    func associatedData(_ secrets: borrowing SecretSources) throws(Failure) -> [UInt8] {
        guard options.aadFrom != nil else { return [] }
        return try secrets.readBytes("--aad-from", prompt: "Associated data", .raw).withBytes { [UInt8](copying: $0) }
    }

    /// - Parameter maximum: The limit in bytes. It is higher for ciphertexts, which add IV, tag and base64 to the message.
    func whole(_ input: borrowing InputFile, maximum: Int = mostInMemory) throws(Failure) -> SecretBytes {
        try input.readWhole(maximum: maximum, hint: "leave out --raw: the container has no such limit")
    }

    /// Reads a text of one line.
    func text(_ input: borrowing InputFile) throws -> String {
        var text = try whole(input, maximum: Self.mostText).withBytes { [UInt8](copying: $0) }
        if text.last == 0x0A { text.removeLast() }
        if text.last == 0x0D { text.removeLast() }
        guard let valid = String(validating: text, as: UTF8.self) else { throw CryptoError.invalidBase64 }
        return valid
    }

    /// Reads base64 that may be split into lines, as `openssl enc -a` and `base64` write it.
    func decodedLines(_ input: borrowing InputFile) throws -> [UInt8] {
        var text = try whole(input, maximum: Self.mostText).withBytes { [UInt8](copying: $0) }
        text.removeAll { $0 == 0x0A || $0 == 0x0D }
        guard let valid = String(validating: text, as: UTF8.self) else { throw CryptoError.invalidBase64 }
        return try decoded(valid)
    }

    func decoded(_ base64: String) throws(CryptoError) -> [UInt8] {
        do { return try Base64.decode(base64) } catch { throw .invalidBase64 }
    }

    func box(_ input: borrowing InputFile, isText: Bool) throws -> [UInt8] {
        guard !isText else { return try decodedLines(input) }
        return try whole(input, maximum: Self.mostInMemory + 64).withBytes { [UInt8](copying: $0) }
    }

    /// The first bytes of the data. Fewer if the data is shorter.
    func start(_ input: borrowing InputFile, count: Int) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            var piece = [UInt8](repeating: 0, count: count - bytes.count)
            var room = piece.mutableSpan
            let read = try input.read(into: &room)
            guard read > 0 else { break }
            bytes += piece.prefix(read)
        }
        return bytes
    }

    func stream(
        _ input: borrowing InputFile, _ cipher: inout BlockCipher, _ target: inout OutputFile
    ) throws {
        let total = input.count
        try stream(total: total, &cipher, &target) { (room) throws(Failure) in try input.read(into: &room) }
    }

    /// - Parameter next: Fills the buffer from its start, and returns the number of bytes. 0 at the end.
    func stream(
        total: Int?, _ cipher: inout BlockCipher, _ target: inout OutputFile,
        from next: (inout MutableSpan<UInt8>) throws(Failure) -> Int
    ) throws {
        var progress = ByteProgress(total: total, isQuiet: context.output.isQuiet)
        defer { progress.end() }
        var shown = ShownText(isNeeded: target.isStandardOutput && StandardOutput.isTerminal)
        var piece = SecretScratch(count: Self.pieceCount)
        var output = SecretScratch(count: cipher.outputCount(for: Self.pieceCount))
        while true {
            let read = try piece.withMutableBytes(0..<piece.count) { (room) throws(Failure) in
                try next(&room)
            }
            progress.add(read)
            let written = try output.withMutableBytes(0..<output.count) { (room) throws(CryptoError) in
                guard read > 0 else { return try cipher.finish(into: &room) }
                return try piece.withBytes(read) { (bytes) throws(CryptoError) in try cipher.update(bytes, into: &room)
                }
            }
            try output.withBytes(written) { bytes in
                if written > 0, try !shown.append(bytes) { try target.write(bytes) }
            }
            if read == 0 { break }
        }
        progress.end()
        try shown.show(context.output)
    }

    func put(_ message: borrowing SecretBytes, _ target: inout OutputFile) throws {
        guard target.isStandardOutput else { return try target.write(message) }
        try context.output.writeSecret(message)
    }
}
