internal import OMCrypto
internal import OMSecrets
internal import OMShell

/// An age file's properties that need no password or key. They are not proven, since nothing is opened.
struct AgeFacts {
    let facts: [(String, JSONValue)]

    /// Reads `input` to its end.
    ///
    /// - Parameter start: The bytes that were read already.
    /// - Throws: The errors of ``AgeFile``, also for a length that no age file has.
    init(_ input: borrowing InputFile, after start: borrowing SecretBuffer) throws {
        let reader = start.withBytes { AgeReader(after: $0) }
        let file = try AgeFile(from: { try reader.read(into: &$0) { try input.read(into: &$0) } })
        var sealed = 0
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            var room = piece.mutableSpan
            let count = try reader.read(into: &room) { try input.read(into: &$0) }
            if count == 0 { break }
            sealed += count
        }
        var facts: [(String, JSONValue)] = [
            ("format", .text("age file")), ("version", .number(AgeFile.version)), ("armored", .flag(reader.isArmored)),
            ("encrypted", .flag(true)), ("algorithm", .text(FileAlgorithm.chacha20Poly1305.name)),
            ("opens_with", .text(file.opensWithPassword ? "password" : "private key")),
        ]
        if let logCost = file.passwordLogCost {
            facts += [("kdf", .text("scrypt")), ("kdf_log_n", .number(logCost))]
        } else {
            var types: [String] = []
            for type in file.recipientTypes where !types.contains(type) { types.append(type) }
            facts += [
                ("recipients", .number(file.recipientTypes.count)),
                ("recipient_types", .text(types.joined(separator: " ").shown)),
            ]
        }
        facts += [
            ("chunk_bytes", .number(AgeFile.chunkCount)),
            ("plaintext_bytes", .number(try SealedFile.plaintextCount(ofSealed: sealed))),
        ]
        self.facts = facts
    }
}
