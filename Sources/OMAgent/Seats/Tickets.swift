// Over a restart of the agent, and not over a reboot: the keys of after-first-unlock, sealed under a secret of this
// boot. Only where the vault's policy asks for it, since any process of the user can do what the agent does here.

internal import OMRecords
internal import OMSecrets
internal import OMStorage
internal import OMVault

/// The tickets in one runtime folder. Format: docs/agent-protocol.md, "Ticket".
struct Tickets: Sendable {
    private static let magic = Array("OMVT1".utf8)

    private let secrets: BootSecrets

    init(_ folder: RuntimeFolder) {
        secrets = BootSecrets(folder, prefix: "omvault-ticket-", secretPrefix: "omvault-secret-", longest: 4096)
    }

    /// Writes the ticket that the vault's policy allows, or takes away the one that it does not.
    func renew(for file: borrowing VaultFile, _ keys: ClassKeys) {
        remove(file.id)
        // On a disk it would outlive the boot; and nothing is kept for keys that are not there.
        guard file.isNoted, file.policy.keepsTicket, secrets.isInMemory, !keys.levels.isEmpty else { return }
        let secret = Key<Deriving>.random()
        guard secrets.keep(secret, for: file.id) else { return }
        var content = SecretBuffer()
        for level in keys.levels {
            content.append(level.code)
            keys.withKey(of: level) { key in key.withExposedBytes { content.append($0) } }
        }
        let boot = ClockReading.now().bootID
        let box = AEAD.seal(
            content.finish(), using: Self.sealing(secret, file.id), context: Self.context(file.id, file.epoch, boot))
        if !secrets.write(SecretBytes(copying: Self.magic + boot + box.bytes), file.id) { remove(file.id) }
    }

    /// The keys of the vault's ticket. One of another boot, of another epoch, or against the policy is discarded.
    func keys(for file: borrowing VaultFile) -> ClassKeys? {
        guard let bytes = secrets.read(file.id) else { return nil }
        guard secrets.isInMemory, file.isNoted, file.policy.keepsTicket, let keys = open(bytes, file.id, file.epoch) else {
            remove(file.id)
            return nil
        }
        return keys
    }

    /// The ids of the vaults that have a ticket.
    var vaults: [[UInt8]] { secrets.ids }

    func remove(_ vault: [UInt8]) { secrets.remove(vault) }

    private func open(_ bytes: borrowing SecretBytes, _ vault: [UInt8], _ epoch: UInt32) -> ClassKeys? {
        let whole = bytes.withBytes { bytes in bytes.indices.map { bytes[$0] } }
        let boot = ClockReading.now().bootID
        // The id of the boot only ever discards: whoever can fake it gains nothing without the secret.
        guard whole.count > Self.magic.count + 16, Array(whole.prefix(Self.magic.count)) == Self.magic,
            Array(whole[Self.magic.count..<Self.magic.count + 16]) == boot, let secret = secrets.secret(for: vault)
        else { return nil }
        let box = SealedBox(stored: Array(whole[(Self.magic.count + 16)...]))
        guard
            let content = try? AEAD.open(
                box, using: Self.sealing(secret, vault), context: Self.context(vault, epoch, boot))
        else { return nil }
        var keys = ClassKeys(vault: vault, epoch: epoch)
        let isWhole = content.withBytes { bytes in
            var cursor = ByteCursor()
            while cursor.offset < bytes.count {
                guard let code = try? cursor.byte(in: bytes), let level = ProtectionLevel(code: code),
                    level.availability == .afterFirstUnlock,
                    let range = try? cursor.skip(Key<Deriving>.count, in: bytes),
                    let key = try? Key<Deriving>(readFrom: SecretBytes(copying: bytes.extracting(range)))
                else { return false }
                keys.add(key, of: level)
            }
            return true
        }
        return isWhole && !keys.levels.isEmpty ? keys : nil
    }

    private static func sealing(_ secret: borrowing Key<Deriving>, _ vault: [UInt8]) -> Key<Sealing> {
        secret.derive(Context(.agentTicket, .bytes(vault)))
    }

    private static func context(_ vault: [UInt8], _ epoch: UInt32, _ boot: [UInt8]) -> Context {
        Context(.agentTicket, .bytes(vault), .number(UInt64(epoch)), .bytes(boot))
    }
}
