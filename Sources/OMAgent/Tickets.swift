// Over a restart of the agent, and not over a reboot: the keys of after-first-unlock, sealed under a secret of this
// boot. Only where the vault's policy asks for it, since any process of the user can do what the agent does here.

internal import COMSystem
internal import Glibc
internal import OMRecords
internal import OMSecrets
internal import OMStorage
internal import OMVault

/// The tickets in one runtime folder. Format: docs/agent-protocol.md, "Ticket".
struct Tickets: Sendable {
    private static let magic = Array("OMVT1".utf8)
    private static let longest = 4096

    private let folder: RuntimeFolder

    init(_ folder: RuntimeFolder) { self.folder = folder }

    /// Writes the ticket that the vault's policy allows, or takes away the one that it does not.
    func renew(for file: borrowing VaultFile, _ keys: ClassKeys) {
        remove(file.id)
        // On a disk it would outlive the boot; and nothing is kept for keys that are not there.
        guard file.isNoted, file.policy.keepsTicket, folder.isInMemory, !keys.levels.isEmpty else { return }
        let secret = Key<Deriving>.random()
        guard keep(secret, for: file.id) else { return }
        var content = SecretBuffer()
        for level in keys.levels {
            content.append(level.code)
            keys.withKey(of: level) { key in key.withExposedBytes { content.append($0) } }
        }
        let boot = ClockReading.now().bootID
        let box = AEAD.seal(
            content.finish(), using: Self.sealing(secret, file.id), context: Self.context(file.id, file.epoch, boot))
        if !write(SecretBytes(copying: Self.magic + boot + box.bytes), to: Self.name(file.id)) { remove(file.id) }
    }

    /// The keys of the vault's ticket. One of another boot, of another epoch, or against the policy is discarded.
    func keys(for file: borrowing VaultFile) -> ClassKeys? {
        guard let bytes = read(Self.name(file.id)) else { return nil }
        guard folder.isInMemory, file.isNoted, file.policy.keepsTicket, let keys = open(bytes, file.id, file.epoch) else {
            remove(file.id)
            return nil
        }
        return keys
    }

    /// The ids of the vaults that have a ticket.
    var vaults: [[UInt8]] {
        guard let stream = opendir(folder.reach(".")) else { return [] }
        defer { closedir(stream) }
        var found: [[UInt8]] = []
        while let entry = readdir(stream) {
            let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            let name = String(decoding: bytes, as: UTF8.self)
            guard name.hasPrefix(Self.prefix), let id = try? Hex.decode(String(name.dropFirst(Self.prefix.count))),
                id.count == 16
            else { continue }
            found.append(id)
        }
        return found
    }

    func remove(_ vault: [UInt8]) {
        om_keyring_remove(Self.name(vault))
        for name in [Self.name(vault), Self.secretName(vault)] { unlink(folder.reach(name)) }
    }

    private func open(_ bytes: borrowing SecretBytes, _ vault: [UInt8], _ epoch: UInt32) -> ClassKeys? {
        let whole = bytes.withBytes { bytes in bytes.indices.map { bytes[$0] } }
        let boot = ClockReading.now().bootID
        // The id of the boot only ever discards: whoever can fake it gains nothing without the secret.
        guard whole.count > Self.magic.count + 16, Array(whole.prefix(Self.magic.count)) == Self.magic,
            Array(whole[Self.magic.count..<Self.magic.count + 16]) == boot, let secret = secret(for: vault)
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

    // MARK: - The secret of this boot

    /// In the kernel's keyring; where that is full or not allowed, in a file of the folder in memory.
    private func keep(_ secret: borrowing Key<Deriving>, for vault: [UInt8]) -> Bool {
        secret.withExposedBytes { bytes in
            bytes.withUnsafeBytes { om_keyring_put(Self.name(vault), $0.baseAddress, $0.count) == 0 }
                || write(SecretBytes(copying: bytes), to: Self.secretName(vault))
        }
    }

    private func secret(for vault: [UInt8]) -> Key<Deriving>? {
        var buffer = SecretBuffer()
        buffer.append(upTo: Key<Deriving>.count + 1) { free in
            let got = free.withUnsafeMutableBytes { om_keyring_get(Self.name(vault), $0.baseAddress, $0.count) }
            return got == Key<Deriving>.count ? got : 0
        }
        if buffer.count > 0 { return try? Key<Deriving>(readFrom: buffer.finish()) }
        guard let bytes = read(Self.secretName(vault)) else { return nil }
        return try? Key<Deriving>(readFrom: bytes)
    }

    private static func sealing(_ secret: borrowing Key<Deriving>, _ vault: [UInt8]) -> Key<Sealing> {
        secret.derive(Context(.agentTicket, .bytes(vault)))
    }

    private static func context(_ vault: [UInt8], _ epoch: UInt32, _ boot: [UInt8]) -> Context {
        Context(.agentTicket, .bytes(vault), .number(UInt64(epoch)), .bytes(boot))
    }

    // MARK: - Files

    private static let prefix = "omvault-ticket-"
    private static func name(_ vault: [UInt8]) -> String { prefix + Hex.encode(vault) }
    private static func secretName(_ vault: [UInt8]) -> String { "omvault-secret-\(Hex.encode(vault))" }

    private func write(_ bytes: borrowing SecretBytes, to name: String) -> Bool {
        let path = folder.reach(name)
        unlink(path)
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return bytes.withBytes { $0.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) == $0.count } }
    }

    private func read(_ name: String) -> SecretBytes? {
        let descriptor = Glibc.open(folder.reach(name), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_uid == geteuid(), status.st_mode & S_IFMT == S_IFREG,
            status.st_mode & 0o077 == 0
        else { return nil }
        var buffer = SecretBuffer()
        buffer.append(upTo: Self.longest) { free in
            max(0, free.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) })
        }
        return buffer.finish()
    }
}
