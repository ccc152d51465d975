// The ciphers around a KDBX file's payload.

internal import OMCrypto
internal import OMSecrets

/// The cipher that a header names.
enum KDBXCipher: CaseIterable {
    case aes256, chacha20

    private static let twofish = Hex.known("ad68f29f576f4bb9a36ad47af965346c")

    var id: [UInt8] {
        switch self {
        case .aes256: Hex.known("31c1f2e6bf714350be5805216afc5aff")
        case .chacha20: Hex.known("d6038a2b8b6f4cb5a524339a31dbb59a")
        }
    }

    init(id: [UInt8]) throws(InterchangeError) {
        guard let known = Self.allCases.first(where: { $0.id == id }) else {
            let name = id == Self.twofish ? "Twofish" : "a cipher"
            throw .unsupported(name, remedy: "change the cipher in KeePassXC")
        }
        self = known
    }

    /// Bytes of the IV.
    var ivCount: Int { self == .aes256 ? 16 : 12 }

    func work(
        _ direction: BlockCipher.Direction, key: borrowing SecretBytes, iv: [UInt8]
    ) throws(CryptoError) -> any PayloadCipher {
        switch self {
        case .aes256: try AESPayload(direction, key: key, iv: iv)
        case .chacha20: KeyStream(.chacha20, key: key.duplicate(), nonce: iv)
        }
    }
}

/// A cipher that takes a payload piece by piece.
protocol PayloadCipher: AnyObject {
    func update(_ piece: Span<UInt8>, into output: inout SecretBuffer) throws(CryptoError)
    func finish(into output: inout SecretBuffer) throws(CryptoError)
}

private final class AESPayload: PayloadCipher {
    private var cipher: BlockCipher

    init(_ direction: BlockCipher.Direction, key: borrowing SecretBytes, iv: [UInt8]) throws(CryptoError) {
        cipher = try BlockCipher(direction, unauthenticated: .aesCBC, key: key, iv: iv, padding: .pkcs7)
    }

    func update(_ piece: Span<UInt8>, into output: inout SecretBuffer) throws(CryptoError) {
        try output.append(upTo: cipher.outputCount(for: piece.count)) { (target) throws(CryptoError) in
            try cipher.update(piece, into: &target)
        }
    }

    func finish(into output: inout SecretBuffer) throws(CryptoError) {
        try output.append(upTo: 16) { (target) throws(CryptoError) in try cipher.finish(into: &target) }
    }
}
