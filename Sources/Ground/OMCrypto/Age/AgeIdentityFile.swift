// A file of age's identities inside an age file for a password.

internal import OMSecrets

struct AgeIdentityFile {
    private let file: AgeFile
    /// The chunks.
    private let sealed: [UInt8]
    /// The base-2 logarithm of scrypt's N.
    let logCost: Int

    /// - Throws: ``CryptoError/malformedKey(_:)``; ``CryptoError/unsupportedKey(_:)`` for an age file that a key opens, or a
    ///   later one.
    init(_ bytes: Span<UInt8>) throws(CryptoError) {
        let reader = AgeReader(after: bytes)
        do {
            let source: ByteSource = { try reader.read(into: &$0) { _ in 0 } }
            file = try AgeFile(from: source)
            var sealed: [UInt8] = []
            var piece = [UInt8](repeating: 0, count: 4096)
            while true {
                var room = piece.mutableSpan
                let count = try source(&room)
                if count == 0 { break }
                sealed += piece.prefix(count)
            }
            self.sealed = sealed
        } catch CryptoError.laterAge {
            throw .unsupportedKey(.encryptedAgeIdentity)
        } catch {
            throw .malformedKey(.encryptedAgeIdentity)
        }
        guard let logCost = file.passwordLogCost else { throw .unsupportedKey(.encryptedAgeIdentity) }
        self.logCost = logCost
    }

    /// - Throws: ``CryptoError/workTooHigh``, ``CryptoError/wrongKeyPassword``; ``CryptoError/malformedKey(_:)`` for an
    ///   age file with another content.
    func privateKey(_ password: borrowing SecretBytes, _ limit: WorkLimit) throws(CryptoError) -> PrivateKey {
        let list = try list(password, limit)
        return try list.withBytes { (bytes) throws(CryptoError) in try AgeText.onlyPrivateKey(bytes) }
    }

    /// The text of the identities.
    ///
    /// - Throws: As ``privateKey(_:_:)``.
    func list(_ password: borrowing SecretBytes, _ limit: WorkLimit) throws(CryptoError) -> SecretBytes {
        guard let password = try? Password(password.duplicate()) else { throw .wrongKeyPassword }
        var text = SecretBuffer()
        var used = 0
        do {
            try file.unlock(with: password, limit: limit).open(
                from: { room in
                    let count = min(room.count, sealed.count - used)
                    for index in 0..<count { room[index] = sealed[used + index] }
                    used += count
                    return count
                }, to: { text.append($0) })
        } catch CryptoError.workTooHigh {
            throw .workTooHigh
        } catch CryptoError.outOfMemory {
            throw .outOfMemory
        } catch { throw .wrongKeyPassword }
        guard text.withBytes({ AgeText.isIdentities($0) }) else { throw .malformedKey(.encryptedAgeIdentity) }
        return text.finish()
    }
}
