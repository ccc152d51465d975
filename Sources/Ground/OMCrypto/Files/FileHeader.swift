// The header of a container, byte by byte as in docs/formats/file-format.md. The reader refuses everything that the page does not
// allow.

internal import OMSecrets

struct FileHeader: Sendable {
    enum Lock: Hashable, Sendable {
        case password(Argon2id.Parameters, salt: [UInt8])
        case key
        case recipients([Stanza])
    }

    /// The file key, sealed for one public key.
    struct Stanza: Hashable, Sendable {
        static let count = 80
        let ephemeral: [UInt8]
        let sealedKey: [UInt8]
    }

    let algorithm: FileAlgorithm
    let salt: [UInt8]
    let lock: Lock

    static let magic: [UInt8] = [0x89, 0x4F, 0x4D, 0x56, 0x46, 0x0D, 0x0A, 0x1A]
    static let version: UInt8 = 1
    static let saltCount = 32
    static let commitmentCount = 32
    static let maximumRecipients = 64
    /// The bytes before the lock.
    static let fixedCount = 46
    private static let chunkPower: UInt8 = 16
    private static let passwordCount = 28
    private static let argon2id: UInt8 = 1

    /// The header's bytes. The commitment and the chunk key are bound to them.
    var encoded: [UInt8] {
        let (kind, body) = encodedLock
        return Self.magic + [Self.version, algorithm.rawValue, kind, Self.chunkPower] + salt
            + [UInt8(body.count >> 8), UInt8(body.count & 0xFF)] + body
    }

    private var encodedLock: (kind: UInt8, body: [UInt8]) {
        switch lock {
        case .password(let work, let salt):
            (
                1,
                [Self.argon2id, UInt8(work.lanes), 0, 0] + Self.bytes(work.memoryKiB) + Self.bytes(work.passes) + salt
            )
        case .key: (2, [])
        case .recipients(let stanzas): (3, stanzas.flatMap { $0.ephemeral + $0.sealedKey })
        }
    }

    init(_ algorithm: FileAlgorithm, salt: [UInt8], _ lock: Lock) {
        (self.algorithm, self.salt, self.lock) = (algorithm, salt, lock)
    }
}

extension FileHeader {
    /// The length in bytes of the lock that follows the header's fixed part.
    ///
    /// - Parameter fixed: The fixed part.
    /// - Throws: ``CryptoError/notAContainer``, ``CryptoError/laterContainer(_:)``.
    static func lockCount(fixed: [UInt8]) throws(CryptoError) -> Int {
        guard fixed.count >= 9, fixed.starts(with: magic) else { throw .notAContainer }
        guard fixed[8] <= version else { throw .laterContainer(Int(fixed[8])) }
        guard fixed.count == fixedCount else { throw .damagedContainer }
        let count = Int(fixed[44]) << 8 | Int(fixed[45])
        let isAllowed =
            switch fixed[10] {
            case 1: count == passwordCount
            case 2: count == 0
            case 3: count % Stanza.count == 0 && (1...maximumRecipients).contains(count / Stanza.count)
            default: false
            }
        guard fixed[8] == version, fixed[11] == chunkPower, isAllowed else { throw .notAContainer }
        return count
    }

    /// - Parameter bytes: The fixed part and the lock, as long as ``lockCount(fixed:)`` says.
    /// - Throws: ``CryptoError/notAContainer``.
    init(parsing bytes: [UInt8]) throws(CryptoError) {
        guard let algorithm = FileAlgorithm(rawValue: bytes[9]) else { throw .notAContainer }
        let body = Array(bytes.dropFirst(Self.fixedCount))
        let lock: Lock =
            switch bytes[10] {
            case 1: try Self.passwordLock(body)
            case 2: .key
            default:
                .recipients(
                    stride(from: 0, to: body.count, by: Stanza.count).map { start in
                        Stanza(
                            ephemeral: Array(body[start..<start + 32]),
                            sealedKey: Array(body[start + 32..<start + Stanza.count]))
                    })
            }
        self.init(algorithm, salt: Array(bytes[12..<44]), lock)
    }

    private static func passwordLock(_ body: [UInt8]) throws(CryptoError) -> Lock {
        guard body[0] == argon2id, body[1] == 1, body[2] == 0, body[3] == 0,
            let work = try? Argon2id.Parameters(memoryKiB: number(body[4..<8]), passes: number(body[8..<12]))
        else { throw .notAContainer }
        return .password(work, salt: Array(body[12...]))
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }

    private static func bytes(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
