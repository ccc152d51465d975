// A key on a stick: 32 random bytes in one line of text. Format: docs/formats/vault-format.md, "Key file".

public import OMItems
public import OMSecrets

/// The secret of a key file slot.
///
///     omvault-key-1-5f0c…-1d9a20b7
public struct VaultKeyFile: ~Copyable, Sendable {
    /// The longest text of a key file.
    public static let maximumCount = 88
    private static let prefix = Array("omvault-key-1-".utf8)
    private static let checksumCount = 4

    private let secret: SecretBytes

    public static func random() -> VaultKeyFile { VaultKeyFile(SecretBytes.random(Key<Unlocking>.count)) }

    private init(_ secret: consuming SecretBytes) { self.secret = secret }

    /// Reads the text of a key file, with its newline or without.
    ///
    /// - Throws: ``VaultError/malformedKeyFile``.
    public init(text: borrowing SecretBytes) throws(VaultError) {
        let whole = Self.maximumCount
        let isWellFormed = text.withBytes { text in
            (text.count == whole - 1 || (text.count == whole && text[whole - 1] == UInt8(ascii: "\n")))
                && Self.prefix.indices.allSatisfy { text[$0] == Self.prefix[$0] }
                && text[Self.prefix.count + 64] == UInt8(ascii: "-")
                // The strict decoder accepts capitals. A key file has none, so that it has one form only.
                && !text.indices.contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(text[$0]) }
        }
        guard isWellFormed else { throw .malformedKeyFile }
        let start = Self.prefix.count
        let secret = try Self.decode(text, start..<start + 64)
        let sum = try Self.decode(text, start + 65..<start + 73)
        guard Self.checksum(secret).isEqual(to: sum) else { throw .malformedKeyFile }
        self.secret = secret
    }

    /// The text, with its newline.
    public borrowing func text() -> SecretBytes {
        var text = SecretBuffer(capacity: Self.maximumCount)
        text.append(Self.prefix.span)
        text.append(Hex.encode(secret))
        text.append(UInt8(ascii: "-"))
        text.append(Hex.encode(Self.checksum(secret)))
        text.append(UInt8(ascii: "\n"))
        return text.finish()
    }

    /// The key that opens the slot.
    public borrowing func key() -> Key<Unlocking> {
        guard let key = try? Key<Unlocking>(readFrom: secret.duplicate()) else {
            preconditionFailure("a key file holds 32 bytes")
        }
        return key
    }

    private static func decode(_ text: borrowing SecretBytes, _ range: Range<Int>) throws(VaultError) -> SecretBytes {
        let digits = text.withBytes { SecretBytes(copying: $0.extracting(range)) }
        do throws(SecretsError) { return try Hex.decode(digits) } catch { throw .malformedKeyFile }
    }

    private static func checksum(_ secret: borrowing SecretBytes) -> SecretBytes {
        let sum = PublicHash.hash(of: secret, context: Context(.keyFileChecksum))
        return SecretBytes(copying: Array(sum.prefix(checksumCount)))
    }
}
