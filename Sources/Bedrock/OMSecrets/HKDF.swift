// HKDF-SHA-256 (RFC 5869) over libsodium's HMAC. libsodium 1.0.18 has the HMAC but no HKDF.

internal import CSodium

package enum HKDF {
    /// The most that RFC 5869 section 2.3 allows: 255 blocks.
    package static let maximumCount = 255 * 32

    /// The HKDF of omvault's own keys. A key has 32 bytes, so one block of output is enough.
    static func deriveBytes(from ikm: borrowing SecretBytes, salt: Span<UInt8>?, info: [UInt8]) -> SecretBytes {
        deriveBytes(from: ikm, salt: salt, info: info, count: 32)
    }

    /// - Parameter count: 0 to ``maximumCount`` bytes.
    package static func deriveBytes(
        from ikm: borrowing SecretBytes, salt: Span<UInt8>?, info: [UInt8], count: Int
    ) -> SecretBytes {
        precondition((0...maximumCount).contains(count), "RFC 5869 allows 255 blocks")
        let extracted = extract(ikm, salt: salt)
        var output = SecretBuffer(capacity: count + 32)
        var previous = SecretBytes(count: 0) { _ in }
        var block: UInt8 = 0
        while output.count < count {
            block += 1
            previous = extracted.withBytes { key in
                HMACSHA256.tag(keyBytes: key) { update in
                    previous.withBytes(update)
                    update(info.span)
                    update([block].span)
                }
            }
            output.append(previous)
        }
        return output.withBytes { SecretBytes(copying: $0.extracting(0..<count)) }
    }

    /// A key from a secret that is no key, such as the 16 random bytes of a code. The context is the info.
    ///
    /// - Parameter secret: At least 128 random bits. A password is stretched instead: ``Argon2id``.
    package static func key<Use: KeyUse>(
        from secret: borrowing SecretBytes, _ context: Context, as use: Use.Type = Use.self
    ) -> Key<Use> {
        Key(deriveBytes(from: secret, salt: nil, info: context.encoded))
    }

    /// The first step. A nil salt is one of zeros.
    static func extract(_ ikm: borrowing SecretBytes, salt: Span<UInt8>?) -> SecretBytes {
        if let salt { return HMACSHA256.tag(keyBytes: salt) { ikm.withBytes($0) } }
        return HMACSHA256.tag(keyBytes: [UInt8](repeating: 0, count: 32).span) { ikm.withBytes($0) }
    }

    /// The second step for 32 bytes, which are one block.
    ///
    /// - Parameter state: That of an HMAC under the extracted key.
    static func expandOnce(_ state: borrowing SecretBytes, info: [UInt8]) -> SecretBytes {
        HMACSHA256.finish(state.duplicate()) { update in
            update(info.span)
            update([1].span)
        }
    }
}

package enum HMACSHA256 {
    /// HMAC-SHA-256 (RFC 2104) over the pieces that `feed` passes to its argument.
    package static func tag(keyBytes: Span<UInt8>, _ feed: ((Span<UInt8>) -> Void) -> Void) -> SecretBytes {
        finish(state(keyBytes), feed)
    }

    /// The state of a computation that has its key but no message. It holds key material, so it is in locked memory too.
    static func state(_ keyBytes: Span<UInt8>) -> SecretBytes {
        SecretBytes(count: crypto_auth_hmacsha256_statebytes()) { state in
            unsafe state.withPointer { base, _ in
                let state = unsafe UnsafeMutableRawPointer(base).assumingMemoryBound(to: crypto_auth_hmacsha256_state.self)
                _ = unsafe keyBytes.withPointer { unsafe crypto_auth_hmacsha256_init(state, $0, $1) }
            }
        }
    }

    static func finish(_ state: consuming SecretBytes, _ feed: ((Span<UInt8>) -> Void) -> Void) -> SecretBytes {
        var state = state
        return state.withMutableBytes(0..<state.count) { state in
            unsafe state.withPointer { base, _ in
                let state = unsafe UnsafeMutableRawPointer(base).assumingMemoryBound(
                    to: crypto_auth_hmacsha256_state.self)
                feed { piece in
                    _ = unsafe piece.withPointer { unsafe crypto_auth_hmacsha256_update(state, $0, UInt64($1)) }
                }
                return SecretBytes(count: 32) { tag in
                    _ = unsafe tag.withPointer { tag, _ in unsafe crypto_auth_hmacsha256_final(state, tag) }
                }
            }
        }
    }
}
