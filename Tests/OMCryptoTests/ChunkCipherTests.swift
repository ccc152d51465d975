import OMSecrets
import Testing

@testable import OMCrypto

@Suite struct ChunkCipherTests {
    private func run(_ cipher: inout ChunkCipher, _ piece: [UInt8], isLast: Bool, room: Int) throws -> [UInt8] {
        var output = [UInt8](repeating: 0, count: room)
        var target = output.mutableSpan
        let count = try cipher.run(piece.span, isLast: isLast, into: &target)
        return Array(output.prefix(count))
    }

    @Test("an empty last chunk is read only if it is the only chunk, so a message has one container")
    func emptyEnd() throws {
        let key: Key<Sealing> = .random()
        for algorithm in FileAlgorithm.allCases {
            var sealer = try ChunkCipher(.encrypt, algorithm, key: key)
            let whole = try run(&sealer, pattern(ChunkCipher.plainCount), isLast: false, room: ChunkCipher.sealedCount)
            let end = try run(&sealer, [], isLast: true, room: ChunkCipher.tagCount)
            var opener = try ChunkCipher(.decrypt, algorithm, key: key)
            #expect(try run(&opener, whole, isLast: false, room: ChunkCipher.plainCount) == pattern(ChunkCipher.plainCount))
            do { _ = try run(&opener, end, isLast: true, room: ChunkCipher.tagCount) } catch {
                #expect(error as? CryptoError == .damagedContainer)
                continue
            }
            Issue.record("\(algorithm): an empty chunk after a whole one was read")
        }
        var sealer = try ChunkCipher(.encrypt, .aes256GCM, key: key)
        let only = try run(&sealer, [], isLast: true, room: ChunkCipher.tagCount)
        var opener = try ChunkCipher(.decrypt, .aes256GCM, key: key)
        #expect(try run(&opener, only, isLast: true, room: ChunkCipher.tagCount) == [])
    }
}
