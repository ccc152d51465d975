// Keys whose type says what they are for. Sealing with a wrapping key does not compile.

/// 32 secret bytes for one use.
public struct Key<Use: KeyUse>: ~Copyable, Sendable {
    public static var count: Int { 32 }

    let bytes: SecretBytes

    init(_ bytes: consuming SecretBytes) {
        precondition(bytes.count == Self.count, "a key has 32 bytes")
        self.bytes = bytes
    }

    public static func random() -> Key {
        Key(SecretBytes.random(count))
    }

    public borrowing func duplicate() -> Key {
        Key(bytes.duplicate())
    }

    /// A key from bytes that the caller read from a safe file of its own, such as the device key's file.
    public init(readFrom bytes: consuming SecretBytes) throws(SecretsError) {
        guard bytes.count == Self.count else { throw .cannotOpen }
        self.init(bytes)
    }

    /// The key's bytes, for the one caller that stores them.
    public borrowing func withExposedBytes<R: ~Copyable, E: Error>(
        _ body: (Span<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        try bytes.withBytes(body)
    }
}

extension Key where Use: DerivingUse {
    /// HKDF-SHA-256 (RFC 5869) without a salt; the context is the info.
    public borrowing func derive<Target: KeyUse>(_ context: Context, as use: Target.Type = Target.self) -> Key<Target> {
        Key<Target>(HKDF.deriveBytes(from: bytes, salt: nil, info: context.encoded))
    }

    /// HKDF-SHA-256 with `salt` as its salt, so that the result needs both keys.
    public borrowing func derive<Target: KeyUse>(
        _ context: Context, mixing salt: borrowing Key<Deriving>, as use: Target.Type = Target.self
    ) -> Key<Target> {
        salt.bytes.withBytes { mixed in
            Key<Target>(HKDF.deriveBytes(from: bytes, salt: mixed, info: context.encoded))
        }
    }

    /// 32 public bytes. Only a holder of this key can compute them, and only for the same context.
    public borrowing func fingerprint(_ context: Context) -> [UInt8] {
        HKDF.deriveBytes(from: bytes, salt: nil, info: context.encoded).withBytes { [UInt8](copying: $0) }
    }

    /// The commitment of a slot. It is stored beside the slot's box and compared before the box is opened.
    /// XChaCha20-Poly1305 alone would let one box open under two keys.
    public borrowing func commitment(to header: [UInt8]) -> [UInt8] {
        fingerprint(Context(.commit, .bytes(header)))
    }

    /// - Throws: ``SecretsError/cannotOpen`` if `commitment` belongs to another key or header.
    public borrowing func check(_ commitment: [UInt8], to header: [UInt8]) throws(SecretsError) {
        guard ConstantTime.areEqual(self.commitment(to: header).span, commitment.span) else { throw .cannotOpen }
    }
}

/// A deriving key from which thousands of keys are derived. HKDF's first step and the first half of the second depend on
/// this key alone, so they are computed once.
package struct KeyDeriver: ~Copyable, Sendable {
    private let expanding: SecretBytes

    package init(_ key: borrowing Key<Deriving>) {
        let extracted = HKDF.extract(key.bytes, salt: nil)
        expanding = extracted.withBytes { HMACSHA256.state($0) }
    }

    /// The key that ``Key/derive(_:as:)`` derives. For one use only: other rooms would look up a generic type for each key.
    package borrowing func derive(_ context: Context) -> Key<Sealing> {
        Key<Sealing>(HKDF.expandOnce(expanding, info: context.encoded))
    }
}

extension Key where Use == Deriving {
    /// The same bytes as a key of ``KeyedHash``, for a key that a format uses both ways.
    package borrowing func forHashing() -> Key<Hashing> { Key<Hashing>(bytes.duplicate()) }
}

extension Key where Use == Wrapping {
    /// Seals `key` under this one.
    public borrowing func wrap<Wrapped: KeyUse>(_ key: borrowing Key<Wrapped>, context: Context) -> SealedBox {
        AEAD.sealBytes(key.bytes, keyBytes: bytes, context: context)
    }

    /// - Throws: ``SecretsError/cannotOpen``.
    public borrowing func unwrap<Wrapped: KeyUse>(
        _ box: SealedBox, context: Context, as use: Wrapped.Type = Wrapped.self
    ) throws(SecretsError) -> Key<Wrapped> {
        let opened = try AEAD.openBytes(box, keyBytes: bytes, context: context)
        guard opened.count == Key<Wrapped>.count else { throw .cannotOpen }
        return Key<Wrapped>(opened)
    }
}
