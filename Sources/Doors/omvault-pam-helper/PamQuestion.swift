// The question of the PAM module: docs/reference/pam.md, "Module and helper". Sources/Doors/pam_omvault/pam_omvault.h has the same.

internal import Glibc
internal import OMAuth
internal import OMSecrets

/// One question of the PAM module.
struct PamQuestion: ~Copyable {
    /// The answer carries it too, so it fits this question only.
    let nonce: [UInt8]
    let mode: Mode
    /// Whether a user with uid 0 may be let in.
    let allowsRoot: Bool
    /// How long the module waits for the answer.
    let seconds: UInt32
    /// The names as received, not validated yet.
    let profile: String
    let user: String
    let password: SecretBytes

    enum Mode: UInt8 {
        case auto = 0x41
        case offline = 0x46
        case online = 0x4E
        case profile = 0x50

        /// Nil: the profile decides.
        var connectivity: ConnectivityMode? {
            switch self {
            case .auto: .auto
            case .offline: .offline
            case .online: .online
            case .profile: nil
            }
        }
    }

    private static let magic = Array("OMP3".utf8)
    private static let headCount = 4 + 16 + 1 + 1 + 2 + 1 + 2 + 4
    private static let patience: ClosedRange<UInt32> = 1...600

    /// - Returns: nil unless the bytes are a whole question.
    init?(from descriptor: Int32) {
        guard let head = Self.read(Self.headCount, descriptor), Array(head.prefix(4)) == Self.magic else { return nil }
        guard let mode = Mode(rawValue: head[20]) else { return nil }
        guard let allowsRoot = [UInt8(ascii: "Y"): true, UInt8(ascii: "N"): false][head[21]] else { return nil }
        let seconds = UInt32(head[22]) << 8 | UInt32(head[23])
        let profileCount = Int(head[24])
        let userCount = Int(head[25]) << 8 | Int(head[26])
        let passwordCount = head[27...].reduce(0) { $0 << 8 | Int($1) }
        guard Self.patience.contains(seconds), profileCount <= ProfileName.maximumCount, userCount <= UserName.maximumCount,
            passwordCount <= Password.maximumCount,
            let profile = Self.read(profileCount, descriptor), let user = Self.read(userCount, descriptor),
            // Repaired text would be another user's name.
            let profile = String(validating: profile, as: UTF8.self),
            let user = String(validating: user, as: UTF8.self)
        else { return nil }
        var isWhole = true
        let password = SecretBytes(count: passwordCount) { (bytes: inout MutableSpan<UInt8>) in
            bytes.withUnsafeMutableBytes { isWhole = Self.fill($0, descriptor) }
        }
        guard isWhole else { return nil }
        (nonce, self.mode, self.allowsRoot, self.seconds) = (Array(head[4..<20]), mode, allowsRoot, seconds)
        (self.profile, self.user) = (profile, user)
        self.password = password
    }

    private static func read(_ count: Int, _ descriptor: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return bytes.withUnsafeMutableBytes { fill($0, descriptor) } ? bytes : nil
    }

    private static func fill(_ bytes: UnsafeMutableRawBufferPointer, _ descriptor: Int32) -> Bool {
        var done = 0
        while done < bytes.count {
            let got = Glibc.read(descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done)
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { return false }
            done += got
        }
        return true
    }
}
