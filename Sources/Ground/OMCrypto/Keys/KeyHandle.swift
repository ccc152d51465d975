// The handle of an OpenSSL key, and the numbers that go in and out of it.
//
// The numbers go to OpenSSL from our own locked memory, and come back into it. While the handle lives, OpenSSL keeps a copy
// on its own heap, which it wipes when the handle is freed.

internal import COpenSSL
internal import OMSecrets

/// One `EVP_PKEY`.
struct KeyHandle: ~Copyable, @unchecked Sendable {
    let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    /// - Throws: ``CryptoError/invalidKey`` for a null pointer, which OpenSSL returns when it refuses.
    init(owning pointer: OpaquePointer?) throws(CryptoError) {
        guard let pointer else { throw .clearing(.invalidKey) }
        self.pointer = pointer
    }

    deinit { EVP_PKEY_free(pointer) }

    /// A number of the key, big-endian and `count` bytes long.
    func number(_ name: StaticString, count: Int) throws(CryptoError) -> SecretBytes {
        var status: Int32 = 0
        let native = SecretBytes(count: count) { target in
            status = unsafe target.withPointer { bytes, count in
                var parameters = [
                    OSSL_PARAM_construct_BN(name.asCharacters, bytes, count), OSSL_PARAM_construct_end(),
                ]
                return EVP_PKEY_get_params(pointer, &parameters)
            }
        }
        guard status == 1 else { throw .clearing(.invalidKey) }
        return native.reversed()
    }

    /// The 32 bytes of an Ed25519 or X25519 key.
    func raw(isPrivate: Bool) throws(CryptoError) -> SecretBytes {
        var status: Int32 = 0
        let bytes = SecretBytes(count: 32) { target in
            status = unsafe target.withPointer { bytes, count in
                var count = count
                return isPrivate
                    ? EVP_PKEY_get_raw_private_key(pointer, bytes, &count)
                    : EVP_PKEY_get_raw_public_key(pointer, bytes, &count)
            }
        }
        guard status == 1 else { throw .clearing(.invalidKey) }
        return bytes
    }
}

/// The numbers from which OpenSSL makes a key, in one block of locked memory.
struct KeyParameters: ~Copyable {
    private enum Kind { case number, octets, text }

    private var values = SecretBuffer()
    private var entries: [(name: StaticString, kind: Kind, range: Range<Int>)] = []

    /// - Parameter number: big-endian.
    mutating func add(_ name: StaticString, number: Span<UInt8>) {
        let start = values.count
        for index in stride(from: number.count - 1, through: 0, by: -1) { values.append(number[index]) }
        entries.append((name, .number, start..<values.count))
    }

    mutating func add(_ name: StaticString, octets: Span<UInt8>) { add(name, octets, .octets) }

    mutating func add(_ name: StaticString, text: String) { add(name, Array(text.utf8).span, .text) }

    private mutating func add(_ name: StaticString, _ bytes: Span<UInt8>, _ kind: Kind) {
        let start = values.count
        values.append(bytes)
        entries.append((name, kind, start..<values.count))
        // OpenSSL reads a text up to its zero byte and ignores the given length.
        values.append(0)
    }

    /// - Throws: ``CryptoError/invalidKey`` for numbers that OpenSSL refuses, such as a point off its curve.
    consuming func makeKey(_ algorithm: String, isPrivate: Bool) throws(CryptoError) -> KeyHandle {
        let entries = entries
        let key = values.withBytes { values in
            unsafe values.withPointer { base, _ -> OpaquePointer? in
                // OpenSSL only reads these bytes.
                let base = UnsafeMutablePointer(mutating: base)
                var parameters = entries.map { entry in
                    let start = base + entry.range.lowerBound
                    return switch entry.kind {
                    case .number: OSSL_PARAM_construct_BN(entry.name.asCharacters, start, entry.range.count)
                    case .octets: OSSL_PARAM_construct_octet_string(entry.name.asCharacters, start, entry.range.count)
                    case .text:
                        OSSL_PARAM_construct_utf8_string(
                            entry.name.asCharacters, UnsafeMutableRawPointer(start).assumingMemoryBound(to: CChar.self),
                            entry.range.count)
                    }
                }
                parameters.append(OSSL_PARAM_construct_end())
                guard let context = EVP_PKEY_CTX_new_from_name(nil, algorithm, nil) else { return nil }
                defer { EVP_PKEY_CTX_free(context) }
                var key: OpaquePointer?
                let selection = isPrivate ? om_select_key_pair() : om_select_public_key()
                guard EVP_PKEY_fromdata_init(context) == 1,
                    EVP_PKEY_fromdata(context, &key, selection, &parameters) == 1
                else { return nil }
                return key
            }
        }
        return try KeyHandle(owning: key)
    }
}

extension StaticString {
    fileprivate var asCharacters: UnsafePointer<CChar> {
        UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
    }
}

extension SecretBytes {
    /// The same bytes in reverse order.
    borrowing func reversed() -> SecretBytes {
        withBytes { bytes in
            SecretBytes(count: bytes.count) { target in
                for index in bytes.indices { target[bytes.count - 1 - index] = bytes[index] }
            }
        }
    }
}

extension Span<UInt8> {
    /// The range of a number without the zeros at its start. Empty if there are only zeros.
    var significant: Range<Int> {
        var first = 0
        while first < count, self[first] == 0 { first += 1 }
        return first..<count
    }
}
