// Salsa20 and ChaCha20 without a check value, through libsodium: KDBX's cipher of the values inside the XML, and ChaCha20 also
// of the payload, whose check values are HMACs.

internal import CSodium
internal import OMCrypto
internal import OMSecrets

/// A stream of key bytes that are XORed onto one message after the other.
final class KeyStream: PayloadCipher {
    enum Kind { case salsa20, chacha20 }

    private let kind: Kind
    private let key: SecretBytes
    private let nonce: [UInt8]
    /// How many bytes of the stream are used.
    private var position = 0

    private static let block = 64

    /// - Parameters:
    ///   - key: 32 bytes.
    ///   - nonce: 8 bytes for Salsa20, 12 bytes for ChaCha20.
    init(_ kind: Kind, key: consuming SecretBytes, nonce: [UInt8]) {
        precondition(key.count == 32 && nonce.count == (kind == .salsa20 ? 8 : 12), "another length of key or nonce")
        (self.kind, self.nonce) = (kind, nonce)
        self.key = key
    }

    /// The next message, encrypted or decrypted.
    func apply(_ message: Span<UInt8>) -> SecretBytes {
        let start = position % Self.block
        guard start > 0 else {
            return SecretBytes(count: message.count) { target in apply(message, into: &target) }
        }
        // libsodium begins at a block.
        var padded = SecretBuffer(capacity: start + message.count)
        padded.append(SecretBytes(count: start) { _ in })
        padded.append(message)
        position -= start
        return padded.withBytes { padded in
            let whole = SecretBytes(count: padded.count) { target in apply(padded, into: &target) }
            return whole.withBytes { SecretBytes(copying: $0.extracting(start..<$0.count)) }
        }
    }

    private func apply(_ message: Span<UInt8>, into target: inout MutableSpan<UInt8>) {
        let first = position / Self.block
        key.withBytes { key in
            target.withPointer { target, _ in
                message.withPointer { message, count in
                    key.withPointer { key, _ in
                        switch kind {
                        case .salsa20:
                            _ = crypto_stream_salsa20_xor_ic(target, message, UInt64(count), nonce, UInt64(first), key)
                        case .chacha20:
                            _ = crypto_stream_chacha20_ietf_xor_ic(
                                target, message, UInt64(count), nonce, UInt32(truncatingIfNeeded: first), key)
                        }
                    }
                }
            }
        }
        position += message.count
    }

    // MARK: - Of the payload

    func update(_ piece: Span<UInt8>, into output: inout SecretBuffer) { output.append(apply(piece)) }

    func finish(into output: inout SecretBuffer) {}
}

extension KeyStream {
    /// The stream of the values that a file protects.
    ///
    /// - Parameters:
    ///   - id: The number of the algorithm in the file. 0 is none.
    ///   - key: As the file has it.
    static func ofValues(_ id: UInt32, key: borrowing SecretBytes) throws(InterchangeError) -> KeyStream? {
        do throws(CryptoError) {
            switch id {
            case 0: return nil
            case 2: return KeyStream(.salsa20, key: try Digest.of(key, .sha256), nonce: Hex.known("e830094b97205d2a"))
            case 3:
                let digest = try Digest.of(key, .sha512)
                return digest.withBytes { digest in
                    KeyStream(
                        .chacha20, key: SecretBytes(copying: digest.extracting(0..<32)), nonce: (32..<44).map { digest[$0] })
                }
            default: break
            }
        } catch {
            throw .noDigest
        }
        throw .unsupported("the cipher of its values", remedy: "save the file as KDBX 4 in KeePassXC")
    }
}
