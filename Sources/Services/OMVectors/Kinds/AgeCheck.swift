// age files (docs/formats/age.md) that must open, and those that must not.

internal import OMCrypto
internal import OMSecrets

/// An age file and the keys that are tried.
struct AgeCheck: VectorCheck {
    /// How a reading ends, as the testkit names it.
    enum Ending: String {
        case success
        case noMatch = "no match"
        case wrongMAC = "HMAC failure"
        case header = "header failure"
        case payload = "payload failure"
        case armor = "armor failure"
    }

    var file: [UInt8]
    var identities: [String] = []
    var passwords: [String] = []
    var isArmored = false
    /// SHA-256 of the plaintext, or of the part that a reader may give out before the fault.
    var payload: [UInt8]?

    init(file: [UInt8]) { self.file = file }

    /// Whether the identity is of the kind that omvault knows.
    static func isKnown(_ identity: String) -> Bool {
        (try? AgeIdentity.list(in: SecretBytes(copying: Array(identity.utf8)))) != nil
    }

    func run() -> CheckOutcome {
        let (opened, ending) = open()
        let digest = try? Digest.of(opened, .sha256)
        guard ending != .success else {
            return digest == payload ? .agrees : .differs("the message is another")
        }
        guard opened.isEmpty || digest == payload else { return .differs("wrong bytes before the refusal") }
        return .refused(ending.rawValue)
    }

    private func open() -> (opened: [UInt8], ending: Ending) {
        var used = 0
        let raw: ByteSource = { target in
            let count = min(target.count, file.count - used)
            for index in 0..<count { target[index] = file[used + index] }
            used += count
            return count
        }
        let reader = AgeReader(after: file.span.extracting(first: AgeReader.startCount))
        used = min(file.count, AgeReader.startCount)
        guard reader.isArmored == isArmored else { return ([], .armor) }
        let source: ByteSource = { try reader.read(into: &$0, from: raw) }
        var opened: [UInt8] = []
        var stage = Ending.header
        do {
            let opener = try unlocked(AgeFile(from: source))
            stage = .payload
            try opener.open(from: source) { opened += [UInt8](copying: $0) }
            return (opened, .success)
        } catch CryptoError.malformedArmor {
            return (opened, .armor)
        } catch let error as CryptoError
            where error == .noMatchingIdentity || error == .wrongFileKey || error == .wrongUnlockMethod
        {
            return (opened, .noMatch)
        } catch CryptoError.damagedContainer where stage == .header {
            return (opened, .wrongMAC)
        } catch {
            return (opened, stage)
        }
    }

    private func unlocked(_ file: AgeFile) throws -> FileOpener {
        guard file.opensWithPassword, !passwords.isEmpty else {
            var keys: [AgeIdentity] = []
            for identity in identities { keys += try AgeIdentity.list(in: SecretBytes(copying: Array(identity.utf8))) }
            return try file.unlock(with: keys)
        }
        for password in passwords {
            do {
                return try file.unlock(with: Password(SecretBytes(copying: Array(password.utf8))))
            } catch CryptoError.wrongFileKey { continue }
        }
        throw CryptoError.wrongFileKey
    }
}
