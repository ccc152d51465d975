import OMCrypto
import OMSecrets
import Testing

/// age files as omvault writes and reads them. `AgeTestkitTests` has the published cases, `AgeCommandTests` the real `age`.
@Suite("age files") struct AgeFileTests {
    static func sealed(
        _ message: [UInt8], _ sealer: consuming AgeSealer, isArmored: Bool = false, piece: Int = .max
    ) throws -> [UInt8] {
        var file: [UInt8] = []
        try sealer.seal(
            from: source(message, piece: piece), to: { span in span.withUnsafeBufferPointer { file += $0 } },
            isArmored: isArmored)
        return file
    }

    /// The returned plaintext, and the error at its end.
    static func opened(
        _ file: [UInt8], piece: Int = .max, _ unlock: (AgeFile) throws -> FileOpener
    ) -> (message: [UInt8], error: CryptoError?) {
        let start = file.prefix(AgeReader.startCount)
        let stream = source(Array(file.dropFirst(start.count)), piece: piece)
        let reader = AgeReader(after: Array(start).span)
        let bytes: ByteSource = { try reader.read(into: &$0, from: stream) }
        var message: [UInt8] = []
        do {
            try unlock(AgeFile(from: bytes)).open(from: bytes) { span in
                span.withUnsafeBufferPointer { message += $0 }
            }
            return (message, nil)
        } catch {
            return (message, error as? CryptoError)
        }
    }

    /// A key that opens files, and its public half.
    static func pair(_ kind: KeyKind) throws -> (identity: AgeIdentity, recipient: AgeRecipient) {
        let identity = try AgeIdentity(PrivateKey.generate(kind))
        return (identity, identity.recipient)
    }

    private static let password = Array("correct horse".utf8)

    private func password(_ text: [UInt8] = password) throws -> Password { try Password(secret(text)) }

    @Test("messages of every length around a chunk come back, as bytes and as text, in pieces of any length")
    func lengths() throws {
        let (identity, recipient) = try Self.pair(.x25519)
        let chunk = 65_536
        for count in [0, 1, 47, 48, 49, chunk - 1, chunk, chunk + 1, 9 * chunk] {
            let message = pattern(count)
            for isArmored in [false, true] {
                let file = try Self.sealed(
                    message, AgeSealer(recipients: [recipient]), isArmored: isArmored, piece: 100_003)
                for piece in count < chunk ? [1, 64, .max] : [70_001] {
                    let result = Self.opened(file, piece: piece) { try $0.unlock(with: [identity]) }
                    #expect(result.error == nil && result.message == message, "\(count) \(isArmored) \(piece)")
                }
            }
        }
    }

    @Test("each kind of recipient opens the file, whichever it is in the list, and no other key does")
    func recipients() throws {
        let pairs = try [KeyKind.x25519, .ed25519, .rsa(bits: 2048)].map { try Self.pair($0) }
        let others = try [KeyKind.x25519, .ed25519, .rsa(bits: 2048)].map { try Self.pair($0).identity }
        let file = try Self.sealed([1, 2, 3], AgeSealer(recipients: pairs.map(\.recipient)))
        for (identity, recipient) in pairs {
            #expect(Self.opened(file) { try $0.unlock(with: [identity]) }.message == [1, 2, 3])
            #expect(Self.opened(file) { try $0.unlock(with: others + [identity]) }.message == [1, 2, 3])
            #expect(try AgeRecipient(recipient.text) == recipient)
        }
        #expect(Self.opened(file) { try $0.unlock(with: others) }.error == .noMatchingIdentity)
        #expect(Self.opened(file) { try $0.unlock(with: []) }.error == .noMatchingIdentity)
        #expect(Self.opened(file) { try $0.unlock(with: try password()) }.error == .wrongUnlockMethod)
        var types: [String] = []
        _ = Self.opened(file) { file in
            types = file.recipientTypes
            return try file.unlock(with: [])
        }
        #expect(types == ["X25519", "ssh-ed25519", "ssh-rsa"])
    }

    @Test("a password opens its file, a wrong one does not, and too much work is refused before it is done")
    func passwords() throws {
        let file = try Self.sealed([7], AgeSealer(password: password(), logCost: 10))
        #expect(Self.opened(file) { try $0.unlock(with: try password()) }.message == [7])
        #expect(Self.opened(file) { try $0.unlock(with: try password([1])) }.error == .wrongFileKey)
        let identity = try Self.pair(.x25519).identity
        #expect(Self.opened(file) { try $0.unlock(with: [identity]) }.error == .wrongUnlockMethod)
        let text = String(decoding: file, as: Unicode.ASCII.self)
        let start = try #require(text.firstRange(of: " 10\n"))
        let offset = text.distance(from: text.startIndex, to: start.lowerBound)
        for (logCost, error) in [("21", CryptoError.workTooHigh), ("63", .workTooHigh), ("11", .wrongFileKey)] {
            var changed = file
            changed.replaceSubrange(offset + 1..<offset + 3, with: Array(logCost.utf8))
            #expect(Self.opened(changed) { try $0.unlock(with: try password()) }.error == error, "\(logCost)")
        }
        for logCost in [9, 23] {
            #expect(throws: CryptoError.parameterOutOfRange) { try AgeSealer(password: password(), logCost: logCost) }
        }
    }

    @Test("any changed bit of a small file is noticed before plaintext comes out, and so is every cut")
    func everyByte() throws {
        let (identity, recipient) = try Self.pair(.x25519)
        for isArmored in [false, true] {
            let file = try Self.sealed(Array("hello".utf8), AgeSealer(recipients: [recipient]), isArmored: isArmored)
            for index in file.indices {
                for bit in 0..<8 {
                    var changed = file
                    changed[index] ^= 1 << bit
                    let result = Self.opened(changed) { try $0.unlock(with: [identity]) }
                    // A changed line end at the end of the text is white space, or no line end.
                    guard !isArmored || index < file.count - 1 || result.error != nil else { continue }
                    #expect(result.error != nil && result.message.isEmpty, "byte \(index), bit \(bit)")
                }
                guard !isArmored || index < file.count - 1 else { continue }
                let cut = Self.opened(Array(file.prefix(index))) { try $0.unlock(with: [identity]) }
                #expect(cut.error != nil && cut.message.isEmpty, "\(index) bytes")
            }
        }
    }

    @Test("damage behind the first chunks is noticed, and only whole chunks before it come out")
    func laterChunks() throws {
        let (identity, recipient) = try Self.pair(.x25519)
        let message = pattern(20 * AgeFile.chunkCount)
        let file = try Self.sealed(message, AgeSealer(recipients: [recipient]))
        let sealed = AgeFile.chunkCount + 16
        let start = file.count - 20 * sealed
        var changed = file
        changed[start + 12 * sealed + 1] ^= 1
        for damaged in [changed, Array(file.prefix(start + 12 * sealed)), Array(file.dropLast())] {
            let result = Self.opened(damaged, piece: 100_003) { try $0.unlock(with: [identity]) }
            #expect(result.error == .damagedContainer)
            #expect(!result.message.isEmpty && result.message.count % AgeFile.chunkCount == 0)
            #expect(result.message.count < message.count && message.starts(with: result.message))
        }
    }

    @Test("a long header is read in few pieces")
    func pieces() throws {
        let file = Array("age-encryption.org/v1\n-> \(String(repeating: "a", count: 200_000))\n\n--- ".utf8)
        let reader = AgeReader(after: file.span.extracting(first: AgeReader.startCount))
        let rest = source(Array(file.dropFirst(AgeReader.startCount)))
        var calls = 0
        #expect(throws: CryptoError.malformedAge) {
            try AgeFile(from: {
                try reader.read(into: &$0) {
                    calls += 1
                    return try rest(&$0)
                }
            })
        }
        #expect(calls < 10)
    }

    @Test("a stanza of another writer beside that of the password is refused")
    func passwordAlone() throws {
        let file = try Self.sealed([7], AgeSealer(password: password(), logCost: 10))
        let text = String(decoding: file.prefix { $0 < 0x80 }, as: UTF8.self)
        let intro = "age-encryption.org/v1\n"
        #expect(text.hasPrefix(intro))
        let changed = Array((intro + "-> grease\n\n").utf8) + file.dropFirst(intro.utf8.count)
        #expect(Self.opened(changed) { try $0.unlock(with: try password()) }.error == .malformedAge)
    }

    @Test("a later version, a long header and text that is no age file have their errors")
    func headers() throws {
        func error(_ text: String) -> CryptoError? { Self.opened(Array(text.utf8)) { try $0.unlock(with: []) }.error }
        #expect(error("age-encryption.org/v2\n") == .laterAge)
        #expect(error("age-encryption.org/v10\nanything") == .laterAge)
        for text in ["", "age-encryption.org/v01\n", "age-encryption.org/v\n", "age-encryption.org/v1", "hello\n"] {
            #expect(error(text) == .malformedAge, "\(text)")
        }
        let stanzas = String(repeating: "-> grease\n\n", count: 256), mac = String(repeating: "A", count: 43)
        let nonce = String(repeating: "n", count: 16)
        #expect(error("age-encryption.org/v1\n\(stanzas)--- \(mac)\n\(nonce)") == .noMatchingIdentity)
        #expect(error("age-encryption.org/v1\n\(stanzas)-> grease\n\n--- \(mac)\n\(nonce)") == .malformedAge)
        let line = String(repeating: "a", count: 300_000)
        #expect(error("age-encryption.org/v1\n-> \(line)\n\n--- ") == .malformedAge)
        for text in ["", "age", "-----BEGIN PRIVATE KEY-----", " -----BEGIN AGE ENCRYPTED FILE-----"] {
            let isAge = AgeReader.isAge(Array(text.utf8).span)
            #expect(!isAge, "\(text)")
        }
        let spaced = AgeReader.isAge(Array("\r\n \t\n-----BEGIN AGE ENCRYPTED FILE-----".utf8).span)
        #expect(spaced)
    }
}
