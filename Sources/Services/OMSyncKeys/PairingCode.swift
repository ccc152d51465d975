// What the two devices of a pairing share: a code of 32 letters. Format: docs/formats/sync.md, "Pairing".

package import OMRecords
package import OMSecrets

package struct PairingCode: ~Copyable {
    /// The messages, in their order.
    package enum Message: UInt8, Hashable, Sendable, CaseIterable {
        case invitation = 1
        case request = 2
        case reveal = 3
        case done = 4
    }

    private let secret: SecretBytes

    package static func random() -> PairingCode { PairingCode(SecretBytes.random(LetterCode.secretCount)) }

    private init(_ secret: consuming SecretBytes) { self.secret = secret }

    /// - Throws: ``SecretsError/notCanonical`` for a mistyped code.
    package init(typed text: borrowing SecretBytes) throws(SecretsError) {
        secret = try LetterCode.read(text, checksum: .syncPairChecksum)
    }

    /// The code as it is shown: `XXXX-XXXX-…`.
    package borrowing func text() -> SecretBytes { LetterCode.text(of: secret, checksum: .syncPairChecksum) }

    /// The name of the mailbox: 16 bytes. It tells nothing of the code.
    package var mailbox: [UInt8] {
        let key = HKDF.key(from: secret, Context(.syncPairBox), as: Deriving.self)
        return key.withExposedBytes { bytes in (0..<16).map { bytes[$0] } }
    }

    /// - Parameter message: The encoded message.
    package borrowing func seal(_ message: Message, _ encoded: [UInt8]) -> [UInt8] {
        precondition(encoded.count <= UInt16.max, "the length of a message has two bytes")
        var bytes: [UInt8] = []
        bytes.append(number: UInt16(encoded.count))
        bytes += encoded
        bytes += [UInt8](repeating: 0, count: (Record.step - bytes.count % Record.step) % Record.step)
        let context = Self.context(message)
        return AEAD.seal(SecretBytes(copying: bytes), using: HKDF.key(from: secret, context), context: context).bytes
    }

    /// - Returns: The encoded message.
    /// - Throws: ``MalformedBytes`` also for the box of another code or message.
    package borrowing func open(_ message: Message, _ box: [UInt8]) throws(MalformedBytes) -> [UInt8] {
        let context = Self.context(message)
        guard let opened = try? AEAD.open(SealedBox(stored: box), using: HKDF.key(from: secret, context), context: context)
        else { throw MalformedBytes() }
        return try opened.withBytes { (bytes: Span<UInt8>) throws(MalformedBytes) in
            var cursor = ByteCursor()
            let encoded = try cursor.take(Int(try cursor.number(UInt16.self, in: bytes)), in: bytes)
            guard bytes.count % Record.step == 0, bytes.count - cursor.offset < Record.step,
                (cursor.offset..<bytes.count).allSatisfy({ bytes[$0] == 0 })
            else { throw MalformedBytes() }
            return encoded
        }
    }

    private static func context(_ message: Message) -> Context { Context(.syncPair, .number(UInt64(message.rawValue))) }
}
