// The tickets of vaults, which survive a restart of the agent but not a reboot. They hold the keys of the
// after-first-unlock levels, sealed under a secret of this boot. A vault has one only if its policy asks for it. With a
// ticket, any process of the user can do what the agent does here.

internal import OMAgentProtocol
internal import OMRecords
internal import OMSecrets
internal import OMSystem
internal import OMVault

/// The tickets in one runtime folder. Format: docs/formats/agent-protocol.md, "Ticket".
struct VaultTickets: Sendable {
    private static let magic = Array("OMVT2".utf8)
    /// Replaces the login's id if another slot opened the vault.
    private static let noLogin = [UInt8](repeating: 0, count: 16)

    private let secrets: BootSecrets

    init(_ folder: RuntimeFolder) {
        secrets = BootSecrets(folder, prefix: "omvault-ticket-", secretPrefix: "omvault-secret-", longest: 4096)
    }

    /// Writes the ticket if the vault's policy allows one. Otherwise it removes the old ticket.
    ///
    /// - Parameter login: The login whose slot opened the vault, so that the ticket can be removed with that
    ///   login's credential.
    func renew(for file: borrowing VaultFile, _ keys: ClassKeys, openedBy login: [UInt8]?) {
        remove(file.id)
        // On a disk the ticket would outlive the boot. Without keys there is nothing to keep.
        guard file.isNoted, file.policy.keepsTicket, secrets.isInMemory, !keys.levels.isEmpty else { return }
        let secret = Key<Deriving>.random()
        guard secrets.keep(secret, for: file.id) else { return }
        var content = SecretBuffer()
        for level in keys.levels {
            content.write(level)
            keys.withKey(of: level) { key in key.withExposedBytes { content.append($0) } }
        }
        let head = Head(boot: ClockReading.now().bootID, login: login ?? Self.noLogin)
        let box = AEAD.seal(
            content.finish(), using: Self.sealing(secret, file.id), context: Self.context(file.id, file.epoch, head))
        if !secrets.write(SecretBytes(copying: Self.magic + head.boot + head.login + box.bytes), file.id) { remove(file.id) }
    }

    /// The keys of the vault's ticket, and the login whose slot opened the vault. A ticket of another boot, of another
    /// epoch, or against the policy is removed.
    func keys(for file: borrowing VaultFile) -> (ClassKeys, login: [UInt8]?)? {
        guard let bytes = secrets.read(file.id) else { return nil }
        guard secrets.isInMemory, file.isNoted, file.policy.keepsTicket, let found = open(bytes, file.id, file.epoch) else {
            remove(file.id)
            return nil
        }
        return found
    }

    /// The ids of the vaults that have a ticket.
    var vaults: [[UInt8]] { secrets.ids }

    func remove(_ vault: [UInt8]) { secrets.remove(vault) }

    /// Removes the tickets of the vaults that this login opened. A ticket has the login in clear. So the process that
    /// removes the login's credential needs no agent for this.
    func remove(openedBy login: [UInt8]) {
        for vault in vaults {
            guard let ticket = secrets.read(vault), Head(ticket)?.login == login else { continue }
            remove(vault)
        }
    }

    /// The part of a ticket that is in clear. It is authenticated with the rest.
    private struct Head {
        static let count = magic.count + 32

        let boot: [UInt8]
        let login: [UInt8]

        init(boot: [UInt8], login: [UInt8]) { (self.boot, self.login) = (boot, login) }

        init?(_ ticket: borrowing SecretBytes) {
            guard ticket.count > Self.count else { return nil }
            let head = ticket.withBytes { bytes in (0..<Self.count).map { bytes[$0] } }
            guard Array(head.prefix(magic.count)) == magic else { return nil }
            self.init(boot: Array(head[magic.count..<magic.count + 16]), login: Array(head[(magic.count + 16)...]))
        }
    }

    private func open(
        _ bytes: borrowing SecretBytes, _ vault: [UInt8], _ epoch: UInt32
    ) -> (ClassKeys, login: [UInt8]?)? {
        // The boot's id can only make a ticket invalid. An attacker who fakes it gains nothing without the secret.
        guard let head = Head(bytes), head.boot == ClockReading.now().bootID, let secret = secrets.secret(for: vault)
        else { return nil }
        let box = SealedBox(stored: bytes.withBytes { bytes in (Head.count..<bytes.count).map { bytes[$0] } })
        guard
            let content = try? AEAD.open(
                box, using: Self.sealing(secret, vault), context: Self.context(vault, epoch, head))
        else { return nil }
        var keys = ClassKeys(vault: vault, epoch: epoch)
        let isWhole = content.withBytes { bytes in
            var wire = WireReader(bytes)
            while !wire.isAtEnd {
                guard let level = try? wire.read(ProtectionLevel.self), level.availability == .afterFirstUnlock,
                    let key: Key<Deriving> = try? wire.key()
                else { return false }
                keys.add(key, of: level)
            }
            return true
        }
        guard isWhole, !keys.levels.isEmpty else { return nil }
        return (keys, head.login == Self.noLogin ? nil : head.login)
    }

    private static func sealing(_ secret: borrowing Key<Deriving>, _ vault: [UInt8]) -> Key<Sealing> {
        secret.derive(Context(.agentTicket, .bytes(vault)))
    }

    private static func context(_ vault: [UInt8], _ epoch: UInt32, _ head: Head) -> Context {
        Context(.agentTicket, .bytes(vault), .number(UInt64(epoch)), .bytes(head.boot), .bytes(head.login))
    }
}
