import OMCrypto
import OMSecrets
import Testing

@Suite("The file container") struct FileContainerTests {
    private func key(_ seed: Int = 1) throws -> Key<Deriving> { try Key(readFrom: secret(pattern(32, seed: seed))) }

    private func sealed(_ message: [UInt8], _ sealer: consuming FileSealer, piece: Int = .max) throws -> [UInt8] {
        var container: [UInt8] = []
        try sealer.seal(from: source(message, piece: piece)) { span in
            span.withUnsafeBufferPointer { container += $0 }
        }
        return container
    }

    /// The returned plaintext, and the error at its end.
    private func opened(
        _ container: [UInt8], piece: Int = .max, _ unlock: (SealedFile) throws -> FileOpener
    ) -> (message: [UInt8], error: (any Error)?) {
        let stream = source(container, piece: piece)
        var message: [UInt8] = []
        do {
            try unlock(SealedFile(from: stream)).open(from: stream) { span in
                span.withUnsafeBufferPointer { message += $0 }
            }
            return (message, nil)
        } catch {
            return (message, error)
        }
    }

    private func refusal(_ container: [UInt8]) -> CryptoError? {
        let (message, error) = opened(container) { try $0.unlock(with: try key()) }
        #expect(message.isEmpty, "plaintext came out before the check")
        return error as? CryptoError
    }

    @Test("messages of every length around a chunk and a batch of chunks come back, in pieces of any length")
    func lengths() throws {
        let chunk = 65_536
        for algorithm in FileAlgorithm.allCases {
            for count in [
                0, 1, chunk - 1, chunk, chunk + 1, 2 * chunk, 8 * chunk - 1, 8 * chunk, 8 * chunk + 1, 17 * chunk,
            ] {
                let message = pattern(count)
                let container = try sealed(message, FileSealer(algorithm, key: key()), piece: 100_003)
                #expect(container.count == 46 + 32 + count + max(1, (count + chunk - 1) / chunk) * 16)
                let result = opened(container, piece: 70_001) { try $0.unlock(with: try key()) }
                #expect(result.error == nil && result.message == message, "\(algorithm) \(count)")
            }
        }
    }

    @Test("a container's length gives the message's length, and an impossible length is refused")
    func messageLengths() throws {
        for count in [0, 1, 65535, 65536, 65537, 131_072, 131_073] {
            let container = try sealed(pattern(count), FileSealer(.aes256GCM, key: key()))
            let isContainer = SealedFile.isContainer(container.span)
            #expect(isContainer)
            // A header for a key has 46 bytes, the commitment 32.
            #expect(try SealedFile.plaintextCount(ofSealed: container.count - 78) == count)
        }
        for sealed in [0, 1, 15, 65552 + 1, 65552 + 16, 2 * 65552 + 15] {
            #expect(throws: CryptoError.damagedContainer) { try SealedFile.plaintextCount(ofSealed: sealed) }
        }
        let cut: [UInt8] = [0x89, 0x4F, 0x4D, 0x56, 0x46, 0x0D, 0x0A]
        for other in [[], cut, cut + [0x1B]] {
            let isContainer = SealedFile.isContainer(other.span)
            #expect(!isContainer)
        }
    }

    @Test("the same message under the same key gives another container each time")
    func fresh() throws {
        let (one, other) = (
            try sealed([1, 2, 3], FileSealer(key: key())), try sealed([1, 2, 3], FileSealer(key: key()))
        )
        #expect(one.dropFirst(78) != other.dropFirst(78))
        #expect(one[12..<44] != other[12..<44])
    }

    @Test("a thousand wrong keys all fail with the same error")
    func wrongKeys() throws {
        let container = try sealed(pattern(100), FileSealer(key: key(0)))
        for seed in 1...1000 {
            var bytes = pattern(32, seed: 0)
            bytes[seed % 32] ^= UInt8(1 << (seed / 32 % 8))
            bytes[(seed + 7) % 32] &+= UInt8(seed / 250)
            guard bytes != pattern(32, seed: 0) else { continue }
            let (message, error) = opened(container) { try $0.unlock(with: Key<Deriving>(readFrom: secret(bytes))) }
            #expect(message.isEmpty && error as? CryptoError == .wrongFileKey)
        }
        #expect(opened(container) { try $0.unlock(with: try key(0)) }.message == pattern(100))
    }

    @Test("a thousand wrong passwords all fail with the same error")
    func wrongPasswords() throws {
        let right = try Password(secret("correct horse".utf8))
        let container = try sealed(pattern(100), FileSealer(password: right, work: .floor))
        for number in 0..<1_000 {
            let wrong = try Password(secret((number % 2 == 0 ? "correct horse\(number)" : "\(number)").utf8))
            let (message, error) = opened(container) { try $0.unlock(with: wrong) }
            #expect(message.isEmpty && error as? CryptoError == .wrongFileKey)
        }
        #expect(opened(container) { try $0.unlock(with: right) }.message == pattern(100))
    }

    @Test("any changed bit of a small container is noticed before the opener returns plaintext")
    func everyByte() throws {
        let container = try sealed(Array("hello".utf8), FileSealer(key: key()))
        for index in container.indices {
            for bit in 0..<8 {
                var changed = container
                changed[index] ^= 1 << bit
                #expect(refusal(changed) != nil, "byte \(index), bit \(bit)")
            }
        }
    }

    @Test("a changed header gives the wrong key's error, or names what the format does not allow")
    func errors() throws {
        let container = try sealed(Array("hello".utf8), FileSealer(key: key()))
        var changed = container
        for index in 12..<44 {
            changed = container
            changed[index] ^= 1
            #expect(refusal(changed) == .wrongFileKey)
        }
        for index in 46..<78 {
            changed = container
            changed[index] ^= 1
            #expect(refusal(changed) == .wrongFileKey)
        }
        changed = container
        changed[8] = 2
        #expect(refusal(changed) == .laterContainer(2))
        changed[8] = 0
        #expect(refusal(changed) == .notAContainer)
        #expect(refusal(container.dropLast(1) + [container[82] ^ 1]) == .damagedContainer)
    }

    @Test("every truncation is refused, and the chunks before the cut give no wrong bytes")
    func truncations() throws {
        let small = try sealed(Array("hello".utf8), FileSealer(key: key()))
        for count in 0..<small.count { #expect(refusal(Array(small.prefix(count))) != nil, "\(count) bytes") }
        let message = pattern(20 * 65_536 + 5)
        let long = try sealed(message, FileSealer(key: key()))
        for chunks in [0, 1, 2, 7, 8, 9, 16, 20] {
            for extra in [-1, 0, 1, 15, 16, 17] where 78 + chunks * 65_552 + extra < long.count {
                let cut = Array(long.prefix(78 + chunks * 65_552 + extra))
                let (given, error) = opened(cut) { try $0.unlock(with: try key()) }
                #expect(error as? CryptoError == .damagedContainer, "\(chunks) chunks and \(extra)")
                #expect(message.starts(with: given) && given.count < message.count)
            }
        }
    }

    @Test("chunks in another order, twice, left out, appended, or of another container are refused")
    func chunks() throws {
        let message = pattern(3 * 65_536 + 9)
        let container = try sealed(message, FileSealer(key: key()))
        let other = try sealed(message, FileSealer(key: key()))
        let head = Array(container.prefix(78))
        let chunk = (0...3).map { Array(container.dropFirst(78 + $0 * 65_552).prefix(65_552)) }
        let foreign = Array(other.dropFirst(78).prefix(65_552))
        for (name, order) in [
            ("exchanged", [chunk[1], chunk[0], chunk[2], chunk[3]]),
            ("twice", [chunk[0], chunk[0], chunk[2], chunk[3]]),
            ("first left out", [chunk[1], chunk[2], chunk[3]]), ("one left out", [chunk[0], chunk[2], chunk[3]]),
            ("last left out", [chunk[0], chunk[1], chunk[2]]), ("last twice", chunk + [chunk[3]]),
            ("appended", chunk + [chunk[0]]), ("byte appended", chunk + [[0]]),
            ("foreign", [foreign] + chunk.dropFirst()),
            ("last one first", [chunk[3]]), ("none", []),
        ] {
            #expect(refusal(head + order.flatMap { $0 }) == .damagedContainer, "\(name)")
        }
        #expect(opened(head + chunk.flatMap { $0 }) { try $0.unlock(with: try key()) }.message == message)
    }

    @Test("each of several private keys opens the container, no other does, and the order of the stanzas is bound")
    func recipients() throws {
        let (ada, bob, eve) = (1, 2, 3)
        let identity = { (seed: Int) in try X25519Identity(privateKey: secret(pattern(32, seed: seed))) }
        let publicKeys = [try identity(ada).publicKey, try identity(bob).publicKey]
        let container = try sealed(
            pattern(9), FileSealer(.chacha20Poly1305, recipients: publicKeys.map { try FileRecipient(publicKey: $0) }))
        #expect(opened(container) { try $0.unlock(with: try identity(ada)) }.message == pattern(9))
        #expect(opened(container) { try $0.unlock(with: try identity(bob)) }.message == pattern(9))
        let wrong = opened(container) { try $0.unlock(with: try identity(eve)) }
        #expect(wrong.error as? CryptoError == .wrongFileKey)
        let swapped = Array(container[..<46]) + container[126..<206] + container[46..<126] + container[206...]
        let order = opened(swapped) { try $0.unlock(with: try identity(ada)) }
        #expect(order.error as? CryptoError == .wrongFileKey)
        // The stanzas do not show their recipients.
        for key in publicKeys {
            #expect(!container.indices.dropLast(31).contains { Array(container[$0..<$0 + 32]) == key })
        }
    }

    @Test("no recipients, too many recipients, and keys of other lengths or of low order are refused")
    func unusableRecipients() throws {
        let one = try FileRecipient(publicKey: pattern(32))
        #expect(throws: CryptoError.unusableRecipient) { _ = try FileSealer(recipients: []) }
        #expect(throws: CryptoError.unusableRecipient) {
            _ = try FileSealer(recipients: Array(repeating: one, count: 65))
        }
        for count in [0, 31, 33] {
            #expect(throws: CryptoError.unusableRecipient) { _ = try FileRecipient(publicKey: pattern(count)) }
            #expect(throws: CryptoError.unusableRecipient) {
                _ = try X25519Identity(privateKey: secret(pattern(count)))
            }
        }
        for low in [[UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31)] {
            let recipient = try FileRecipient(publicKey: low)
            #expect(throws: CryptoError.unusableRecipient) { _ = try FileSealer(recipients: [recipient]) }
        }
    }

    @Test("a file that asks for too much work is not tried, and the caller can allow more")
    func work() throws {
        let password = try Password(secret("pw".utf8))
        let container = try sealed([1], FileSealer(password: password, work: .init(memoryKiB: 16 << 10, passes: 2)))
        let file = try SealedFile(from: source(container))
        #expect(file.lock == .password)
        _ = try file.unlock(with: password)
        // 1 GiB, 5 times: above what WorkLimit allows, in the header's own order.
        var greedy = container
        greedy.replaceSubrange(50..<58, with: [0, 0x10, 0, 0, 0, 0, 0, 5])
        let asking = try SealedFile(from: source(greedy))
        #expect(throws: CryptoError.workTooHigh) { _ = try asking.unlock(with: password) }
    }

    @Test("a container is sealed to and opened with X25519 keys from any file, and no other keys")
    func keysOfFiles() throws {
        let pair = try PrivateKey.generate(.x25519)
        let container = try sealed(pattern(9), FileSealer(recipients: [FileRecipient(pair.publicKey())]))
        let identity = try X25519Identity(KeyFile(pair.unencryptedPKCS8()).privateKey())
        #expect(identity.publicKey == (try pair.publicKey().rawBytes))
        let stream = source(container)
        var message: [UInt8] = []
        try SealedFile(from: stream).unlock(with: identity).open(from: stream) { message += [UInt8](copying: $0) }
        #expect(message == pattern(9))
        let other = try PrivateKey.generate(.ed25519).unencryptedPKCS8()
        #expect(throws: CryptoError.unusableRecipient) {
            _ = try FileRecipient(KeyFile(other).privateKey().publicKey())
        }
        #expect(throws: CryptoError.unusableRecipient) { _ = try X25519Identity(KeyFile(other).privateKey()) }
    }

    @Test("a file that needs another kind of key is told apart from a wrong key")
    func otherLocks() throws {
        let toKey = try SealedFile(from: source(sealed([1], FileSealer(key: key()))))
        let password = try Password(secret("pw".utf8))
        #expect(throws: CryptoError.wrongUnlockMethod) { _ = try toKey.unlock(with: password) }
        let identity = try X25519Identity.random()
        #expect(throws: CryptoError.wrongUnlockMethod) { _ = try toKey.unlock(with: identity) }
        let toPassword = try SealedFile(from: source(sealed([1], FileSealer(password: password, work: .floor))))
        let mine = try key()
        #expect(throws: CryptoError.wrongUnlockMethod) { _ = try toPassword.unlock(with: mine) }
    }

    @Test("headers that the format does not allow are refused with that reason")
    func malformedHeaders() throws {
        let password = try Password(secret("pw".utf8))
        let container = try sealed([1], FileSealer(password: password, work: .floor))
        var changes: [(Int, [UInt8])] = (0..<8).map { ($0, [container[$0] ^ 0x80]) }
        changes +=
            [0, 3, 255].map { (9, [$0]) } + [0, 2, 3, 4, 255].map { (10, [$0]) } + [0, 15, 17, 255].map { (11, [$0]) }
        changes += [[0, 0], [0, 27], [0, 29], [0, 80], [0xFF, 0xFF]].map { (44, $0) }
        changes += [(46, [0]), (46, [2]), (47, [0]), (47, [2]), (47, [4]), (48, [1]), (49, [1])]
        changes += [
            (50, [0, 0, 0x1F, 0xFF]), (50, [0, 0x10, 0, 1]), (50, [0, 0, 0, 0]), (54, [0, 0, 0, 0]),
            (54, [0, 0, 0, 17]),
        ]
        #expect(changes.count >= 32)
        for (place, bytes) in changes {
            var changed = container
            changed.replaceSubrange(place..<place + bytes.count, with: bytes)
            #expect(throws: CryptoError.notAContainer, "\(place): \(bytes)") {
                _ = try SealedFile(from: source(changed))
            }
        }
    }

    @Test("an error of a source or a sink ends the work and reaches the caller")
    func foreignErrors() throws {
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            let sealer = try FileSealer(key: key())
            try sealer.seal(from: { _ in throw Stop() }, to: { _ in })
        }
        let container = try sealed(pattern(10), FileSealer(key: key()))
        #expect(throws: Stop.self) {
            let stream = source(container)
            let opener = try SealedFile(from: stream).unlock(with: key())
            try opener.open(from: stream) { _ in throw Stop() }
        }
    }
}
