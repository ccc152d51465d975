// The slow functions of KDBX: AES-KDF, Argon2d and Argon2id.

internal import OMCrypto
internal import OMSecrets

/// What makes a password slow to guess.
enum KDBXDerivation {
    case aes(rounds: UInt64, seed: [UInt8])
    case argon2(Argon2.Variant, Argon2.Version, Argon2.Parameters, salt: [UInt8], secret: [UInt8], data: [UInt8])

    static let argon2dID = Hex.known("ef636ddf8c29444b91f7a9a403e30a0c")
    static let argon2idID = Hex.known("9e298b1956db4773b23dfc3ec6f0a1e6")
    /// Of KDBX 3, and of KDBX 4.
    private static let aesIDs = [Hex.known("c9d9f39a628a4460bf740d08c18a4fea"), Hex.known("7c02bb8279a74ac0927d114a00648238")]
    private static let fault = InterchangeError.damaged("the parameters of its key derivation")

    init(_ parameters: KDBXVariants) throws(InterchangeError) {
        guard case .bytes(let id)? = parameters["$UUID"] else { throw Self.fault }
        func bytes(_ name: String) throws(InterchangeError) -> [UInt8]? {
            guard let value = parameters[name] else { return nil }
            guard case .bytes(let bytes) = value else { throw Self.fault }
            return bytes
        }
        func number(_ name: String) throws(InterchangeError) -> UInt64 {
            switch parameters[name] {
            case .uint32(let number): return UInt64(number)
            case .uint64(let number): return number
            default: throw Self.fault
            }
        }
        let seed = try bytes("S") ?? []
        if Self.aesIDs.contains(id) {
            self = .aes(rounds: try number("R"), seed: seed)
            return
        }
        guard id == Self.argon2dID || id == Self.argon2idID else {
            throw .unsupported("a key derivation", remedy: "choose Argon2 or AES-KDF in KeePassXC, and save the file")
        }
        let memory = try number("M"), passes = try number("I"), lanes = try number("P")
        guard let version = Argon2.Version(rawValue: Int(clamping: try number("V"))) else { throw Self.fault }
        let cost = Argon2.Parameters(
            memoryKiB: Int(clamping: memory / 1024), passes: Int(clamping: passes), lanes: Int(clamping: lanes))
        self = .argon2(
            id == Self.argon2dID ? .argon2d : .argon2id, version, cost, salt: seed, secret: try bytes("K") ?? [],
            data: try bytes("A") ?? [])
    }

    /// The parameters as KDBX 4 keeps them. AES-KDF is not written.
    var variants: KDBXVariants {
        guard case .argon2(let variant, let version, let cost, let salt, _, _) = self else { return KDBXVariants([]) }
        return KDBXVariants([
            ("$UUID", .bytes(variant == .argon2d ? Self.argon2dID : Self.argon2idID)),
            ("I", .uint64(UInt64(cost.passes))), ("M", .uint64(UInt64(cost.memoryKiB) << 10)),
            ("P", .uint32(UInt32(cost.lanes))), ("S", .bytes(salt)), ("V", .uint32(UInt32(version.rawValue))),
        ])
    }

    /// - Throws: ``InterchangeError/tooMuch(_:)`` for more work than the limits allow, and before any of it is done.
    func key(from composite: borrowing SecretBytes, _ limits: KeePassLimits) throws(InterchangeError) -> SecretBytes {
        switch self {
        case .aes(let rounds, let seed):
            guard rounds > 0, seed.count == 32 else { throw Self.fault }
            // Attack: the file names a number of rounds that keeps the reader busy for years.
            guard rounds <= limits.rounds else { throw .tooMuch("rounds of its key derivation") }
            do throws(CryptoError) { return try Self.aes(composite, seed: SecretBytes(copying: seed), rounds) } catch {
                throw Self.fault
            }
        case .argon2(let variant, let version, let cost, let salt, let secret, let data):
            do throws(CryptoError) {
                // Attack: the same with memory, passes and lanes.
                guard cost.memoryKiB <= limits.memoryKiB else { throw .workTooHigh }
                try limits.work.check(.argon2(variant, cost))
                return try KeyDerivation.argon2(
                    variant, composite, salt: salt, cost, secret: SecretBytes(copying: secret), associatedData: data, count: 32,
                    version: version)
            } catch {
                switch error {
                case .workTooHigh, .outOfMemory: throw .tooMuch("work of its key derivation")
                default: throw Self.fault
                }
            }
        }
    }

    /// Each half of the key is encrypted by itself, many times over. CBC of the half and zero blocks, with a zero IV, is the
    /// same: each block's input is the block before.
    private static func aes(
        _ composite: borrowing SecretBytes, seed: borrowing SecretBytes, _ rounds: UInt64
    ) throws(CryptoError) -> SecretBytes {
        let pieceCount = 1 << 16, zeros = [UInt8](repeating: 0, count: pieceCount)
        var stretched = SecretBuffer(capacity: 64)
        var output = SecretScratch(count: pieceCount + 16)
        for half in 0..<2 {
            var cipher = try BlockCipher(
                .encrypt, unauthenticated: .aesCBC, key: seed, iv: [UInt8](repeating: 0, count: 16), padding: .none)
            var last = try composite.withBytes { (composite) throws(CryptoError) in
                try output.withMutableBytes(0..<pieceCount + 16) { (target) throws(CryptoError) in
                    try cipher.update(composite.extracting(half * 16..<half * 16 + 16), into: &target)
                }
            }
            var left = rounds - 1
            while left > 0 {
                let blocks = Int(min(left, UInt64(pieceCount / 16)))
                last = try output.withMutableBytes(0..<pieceCount + 16) { (target) throws(CryptoError) in
                    try cipher.update(zeros.span.extracting(first: blocks * 16), into: &target)
                }
                left -= UInt64(blocks)
            }
            output.withBytes(last) { stretched.append($0.extracting(last - 16..<last)) }
        }
        return try Digest.of(stretched.finish(), .sha256)
    }
}

extension Hex {
    /// The bytes of a constant.
    static func known(_ text: String) -> [UInt8] {
        guard let bytes = try? decode(text) else { preconditionFailure("a constant that is not hex") }
        return bytes
    }
}
