internal import OMCrypto
internal import OMSecrets
internal import OMShell

/// A container's properties that need no password or key. They are not proven, since nothing is opened.
struct ContainerFacts {
    let facts: [(String, JSONValue)]

    /// Reads `input` to its end.
    ///
    /// - Parameter start: The bytes that were read already.
    /// - Throws: The errors of ``SealedFile``, also for a length that no container has.
    init(_ input: borrowing InputFile, after start: borrowing SecretBuffer) throws {
        var used = 0
        let file = try SealedFile(from: { room in
            let taken = min(room.count, start.count - used)
            guard taken > 0 else { return try input.read(into: &room) }
            start.withBytes { bytes in for index in 0..<taken { room[index] = bytes[used + index] } }
            used += taken
            return taken
        })
        let plaintext = try SealedFile.plaintextCount(ofSealed: start.count - used + Self.rest(of: input))
        var facts: [(String, JSONValue)] = [
            ("format", .text("omvault container")), ("version", .number(file.version)), ("encrypted", .flag(true)),
            ("algorithm", .text(file.algorithm.name)), ("opens_with", .text(file.lock.name)),
        ]
        if case .recipients(let count) = file.lock { facts.append(("recipients", .number(count))) }
        if let stretch = file.stretch {
            facts += [
                ("kdf", .text("argon2id")), ("kdf_mem_kib", .number(Int(stretch.memoryKiB))),
                ("kdf_time", .number(Int(stretch.passes))), ("kdf_lanes", .number(Int(stretch.lanes))),
            ]
        }
        facts += [("chunk_bytes", .number(file.chunkCount)), ("plaintext_bytes", .number(plaintext))]
        self.facts = facts
    }

    /// The number of bytes that are left. It is counted if the input does not know its length.
    private static func rest(of input: borrowing InputFile) throws -> Int {
        if let count = input.count { return count }
        var total = 0
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            var room = piece.mutableSpan
            let count = try input.read(into: &room)
            if count == 0 { return total }
            total += count
        }
    }
}

extension SealedFile.Lock {
    fileprivate var name: String {
        switch self {
        case .password: "password"
        case .key: "key"
        case .recipients: "private key"
        }
    }
}
