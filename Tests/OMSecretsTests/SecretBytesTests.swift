import Testing

@testable import OMSecrets

@Suite("Secrets in memory") struct SecretBytesTests {
    @Test("a secret lends exactly its original bytes", arguments: [0, 1, 63, 64, 65, 4096, 131_072, 131_073])
    func roundTrip(count: Int) {
        let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 31 + 7) }
        let secret = SecretBytes(copying: content)
        #expect(secret.count == count)
        #expect(secret.exposed == content)
    }

    @Test("memory of a released secret is wiped before the next secret gets it")
    func reuseWipes() {
        // A large secret has its own mapping; a small one shares the arena, whose granules come back first fit.
        for count in [48, 64, 4096] {
            let reused = (0..<64).contains { _ in
                let first = SecretBytes(count: count) { for index in $0.indices { $0[index] = 0xA5 } }
                let place = unsafeAddress(first)
                _ = consume first
                var leftovers = 0
                let second = SecretBytes(count: count) { bytes in
                    for index in bytes.indices where bytes[index] != 0 { leftovers += 1 }
                }
                #expect(leftovers == 0)
                return unsafeAddress(second) == place
            }
            #expect(reused, "no memory was reused, so nothing was shown")
        }
    }

    @Test("secrets that live at the same time never share a byte")
    func noOverlap() {
        var held: [Held] = []
        for round in 0..<2000 {
            held.append(Held(byte: UInt8(truncatingIfNeeded: round), count: round % 200))
            if round % 3 == 0 { held.remove(at: round / 7 % held.count) }
        }
        for one in held { #expect(one.secret.exposed.allSatisfy { $0 == one.byte }) }
    }

    @Test("secrets made and dropped by many threads at once keep their bytes")
    func threads() async {
        await withTaskGroup(of: Bool.self) { group in
            for worker in UInt8(0)..<8 {
                group.addTask {
                    (0..<500).allSatisfy { round in
                        let held = Held(byte: worker, count: round)
                        return held.secret.exposed.allSatisfy { $0 == worker }
                    }
                }
            }
            for await kept in group { #expect(kept) }
        }
    }

    @Test("a fill that throws makes no secret and leaks none")
    func failingFill() {
        #expect(
            refusal { () throws(SecretsError) in
                _ = try SecretBytes(count: 8) { (_) throws(SecretsError) in throw .cannotOpen }
            } == .cannotOpen)
    }

    @Test("equality needs the same length and every byte the same")
    func equality() {
        let secret = SecretBytes("correct horse")
        let same = secret.isEqual(to: secret.duplicate())
        let others = [
            secret.isEqual(to: SecretBytes("correct hors")),
            secret.isEqual(to: SecretBytes("correct horsf")),
            SecretBytes("").isEqual(to: secret),
        ]
        let nothing = SecretBytes("").isEqual(to: SecretBytes(""))
        #expect(same && nothing)
        #expect(others == [false, false, false])
    }

    @Test("a buffer grows past every size and keeps what was appended")
    func buffer() {
        var buffer = SecretBuffer()
        var expected: [UInt8] = []
        for round in 0..<300 {
            let piece = [UInt8](repeating: UInt8(truncatingIfNeeded: round), count: round)
            buffer.append(piece.span)
            buffer.append(0xFF)
            expected += piece + [0xFF]
        }
        buffer.removeLast()
        expected.removeLast()
        #expect(buffer.count == expected.count)
        #expect(buffer.finish().exposed == expected)
    }

    @Test("an empty buffer has nothing to remove")
    func emptyBuffer() {
        var buffer = SecretBuffer()
        buffer.removeLast()
        #expect(buffer.count == 0)
    }

    @Test("random secrets differ and have the requested length")
    func random() {
        #expect(SecretBytes.random(32).count == 32)
        #expect(SecretBytes.random(32).exposed != SecretBytes.random(32).exposed)
    }

    @Test(
        "a password has 1 byte to 1 MiB", arguments: [(0, false), (1, true), (1 << 20, true), ((1 << 20) + 1, false)])
    func passwordLength(count: Int, isAccepted: Bool) {
        let refused = refusal { () throws(SecretsError) in _ = try Password(SecretBytes(count: count) { _ in }) }
        #expect(refused == (isAccepted ? nil : .passwordLength))
    }
}

private final class Held {
    let byte: UInt8
    let secret: SecretBytes

    init(byte: UInt8, count: Int) {
        self.byte = byte
        secret = SecretBytes(count: count) { for index in $0.indices { $0[index] = byte } }
    }
}

/// The address of the secret, as a number. Nothing is read through it.
private func unsafeAddress(_ secret: borrowing SecretBytes) -> UInt {
    secret.withBytes { $0.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) } }
}
