// The encryption of OpenSSH's private key files: bcrypt_pbkdf and one of the ciphers of its transport (PROTOCOL.key,
// PROTOCOL.chacha20poly1305).

internal import COpenSSL
internal import OMSecrets

/// The encryption of a file, read from the file's own header and not trusted yet.
struct OpenSSHEncryption {
    enum Cipher: String, CaseIterable {
        case aes128CTR = "aes128-ctr"
        case aes192CTR = "aes192-ctr"
        case aes256CTR = "aes256-ctr"
        case aes128CBC = "aes128-cbc"
        case aes192CBC = "aes192-cbc"
        case aes256CBC = "aes256-cbc"
        case tripleDESCBC = "3des-cbc"
        case aes128GCM = "aes128-gcm@openssh.com"
        case aes256GCM = "aes256-gcm@openssh.com"
        case chacha20Poly1305 = "chacha20-poly1305@openssh.com"

        var keyCount: Int {
            switch self {
            case .aes128CTR, .aes128CBC, .aes128GCM: 16
            case .aes192CTR, .aes192CBC, .tripleDESCBC: 24
            case .aes256CTR, .aes256CBC, .aes256GCM: 32
            case .chacha20Poly1305: 64
            }
        }

        var ivCount: Int {
            switch self {
            case .tripleDESCBC: 8
            case .aes128GCM, .aes256GCM: 12
            case .chacha20Poly1305: 0
            default: 16
            }
        }

        /// The padding fills up a block of so many bytes.
        var blockCount: Int { self == .tripleDESCBC || self == .chacha20Poly1305 ? 8 : 16 }

        var tagCount: Int {
            switch self {
            case .aes128GCM, .aes256GCM, .chacha20Poly1305: 16
            default: 0
            }
        }

        fileprivate var openssl: OpenSSLCipher {
            switch self {
            case .aes128CTR: .aes128CTR
            case .aes192CTR: .aes192CTR
            case .aes256CTR: .aes256CTR
            case .aes128CBC: .aes128CBC
            case .aes192CBC: .aes192CBC
            case .aes256CBC: .aes256CBC
            case .tripleDESCBC: .tripleDESCBC
            case .aes128GCM: .aes128GCM
            case .aes256GCM: .aes256GCM
            case .chacha20Poly1305: .chacha20
            }
        }
    }

    let cipher: Cipher
    let salt: [UInt8]
    let rounds: Int

    static let derivation = "bcrypt"

    /// The encryption of a new file: that of `ssh-keygen`, with the rounds of OpenSSH 9.4 and later.
    static func new() -> OpenSSHEncryption {
        OpenSSHEncryption(cipher: .aes256CTR, salt: Random.bytes(16), rounds: 24)
    }

    /// Such as `bcrypt, aes256-ctr`.
    var name: String { "\(Self.derivation), \(cipher.rawValue)" }

    /// The work, as ``KeyEncryption/work`` counts it.
    var work: Int {
        WorkLimit.product(
            rounds, BCryptDerivation.blocks(cipher.keyCount + cipher.ivCount) * BCryptDerivation.roundWork)
    }

    /// Decrypts the private section of a file. Only an authenticated cipher notices a wrong password here.
    ///
    /// - Throws: ``CryptoError/workTooHigh``, ``CryptoError/wrongKeyPassword``.
    func open(
        _ ciphertext: Span<UInt8>, tag: [UInt8], password: borrowing SecretBytes, limit: WorkLimit
    ) throws(CryptoError) -> SecretBytes {
        // Attack: a file asks for so much work that the machine is busy for days.
        guard work <= limit.keyWork else { throw .workTooHigh }
        guard cipher != .chacha20Poly1305 else {
            return try openPoly1305(ciphertext, tag: tag, derive(password))
        }
        return try run(.decrypt, ciphertext, tag: tag, derive(password))
    }

    /// Encrypts a section. Only for ciphers without a tag: those of new files.
    func seal(_ section: borrowing SecretBytes, password: borrowing SecretBytes) throws(CryptoError) -> [UInt8] {
        precondition(cipher.tagCount == 0, "not a cipher of new files")
        let derived = try derive(password)
        let sealed = try section.withBytes { (bytes) throws(CryptoError) in try run(.encrypt, bytes, tag: [], derived) }
        return sealed.withBytes { [UInt8](copying: $0) }
    }

    /// The key, then the IV.
    private func derive(_ password: borrowing SecretBytes) throws(CryptoError) -> SecretBytes {
        try BCryptDerivation.derive(password, salt: salt, rounds: rounds, count: cipher.keyCount + cipher.ivCount)
    }

    private func run(
        _ direction: CipherContext.Direction, _ input: Span<UInt8>, tag: [UInt8], _ derived: borrowing SecretBytes
    ) throws(CryptoError) -> SecretBytes {
        let context = try CipherContext(cipher.openssl, direction)
        EVP_CIPHER_CTX_set_padding(context.pointer, 0)
        let count = cipher.keyCount
        try derived.withBytes { (derived) throws(CryptoError) in
            try context.start(key: derived.extracting(0..<count), iv: derived.bytes(count..<derived.count))
        }
        return try SecretBytes(count: input.count) { (target) throws(CryptoError) in
            let isDone = unsafe target.withPointer { target, _ in
                unsafe input.withPointer { input, inputCount in
                    var tag = tag
                    guard inputCount == 0 || context.update(input, inputCount, into: target) == inputCount,
                        tag.isEmpty || context.control(EVP_CTRL_AEAD_SET_TAG, tag.count, &tag)
                    else { return false }
                    return context.finish(into: target + inputCount) == 0
                }
            }
            guard isDone else { throw .clearing(.wrongKeyPassword) }
        }
    }

    /// OpenSSH's own mode: ChaCha20 with block 0 as the key of Poly1305 over the ciphertext, and the message from block 1. The
    /// nonce is the number of a packet: here 0. The second half of the key is for the lengths of packets.
    private func openPoly1305(
        _ ciphertext: Span<UInt8>, tag: [UInt8], _ derived: borrowing SecretBytes
    ) throws(CryptoError) -> SecretBytes {
        let key = derived.withBytes { SecretBytes(copying: $0.extracting(0..<32)) }
        let zeros = SecretBytes(count: 64) { _ in }
        let first = try zeros.withBytes { (zeros) throws(CryptoError) in try Self.chacha20(zeros, key, block: 0) }
        let right = try first.withBytes { (first) throws(CryptoError) in
            try Self.poly1305(ciphertext, key: first.extracting(0..<32))
        }
        guard ConstantTime.areEqual(right.span, tag.span) else { throw .wrongKeyPassword }
        return try Self.chacha20(ciphertext, key, block: 1)
    }

    private static func chacha20(
        _ input: Span<UInt8>, _ key: borrowing SecretBytes, block: UInt8
    ) throws(CryptoError) -> SecretBytes {
        let context = try CipherContext(.chacha20, .encrypt)
        let iv = [block] + [UInt8](repeating: 0, count: 15)
        try key.withBytes { (key) throws(CryptoError) in try context.start(key: key, iv: iv) }
        return try SecretBytes(count: input.count) { (target) throws(CryptoError) in
            let isDone = unsafe target.withPointer { target, _ in
                unsafe input.withPointer { input, count in
                    count == 0 || context.update(input, count, into: target) == count
                }
            }
            guard isDone else { throw .clearing(.unknownAlgorithm) }
        }
    }

    private static func poly1305(_ message: Span<UInt8>, key: Span<UInt8>) throws(CryptoError) -> [UInt8] {
        guard let function = EVP_MAC_fetch(nil, "POLY1305", nil) else { throw .clearing(.unknownAlgorithm) }
        defer { EVP_MAC_free(function) }
        guard let context = EVP_MAC_CTX_new(function) else { fatalError("out of memory for a MAC") }
        defer { EVP_MAC_CTX_free(context) }
        var tag = [UInt8](repeating: 0, count: 16)
        var written = 0
        let isStarted = unsafe key.withPointer { EVP_MAC_init(context, $0, $1, nil) == 1 }
        let isRead = unsafe message.withPointer { EVP_MAC_update(context, $0, $1) == 1 }
        let isDone = isStarted && isRead && EVP_MAC_final(context, &tag, &written, tag.count) == 1
        guard isDone, written == tag.count else { throw .clearing(.unknownAlgorithm) }
        return tag
    }
}
