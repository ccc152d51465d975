// The tickets of sessions, which survive a restart of the agent but not a reboot. A session has one only if its
// profile asks for it (`SessionActiveOnRestart`). With a ticket, any process of the user can do what the agent does
// here, and has the tokens.

internal import OMAgentProtocol
internal import OMAuth
internal import OMSecrets
internal import OMSystem

/// The session tickets in one runtime folder. Format: docs/formats/agent-protocol.md, "Session tickets".
struct SessionTickets: Sendable {
    private static let magic = Array("OMST5".utf8)

    private let secrets: BootSecrets

    init(_ folder: RuntimeFolder) {
        secrets = BootSecrets(
            folder, prefix: "omvault-session-", secretPrefix: "omvault-session-secret-",
            longest: OnlineQuestion.maximumBody + 3 * AccessToken.longest)
    }

    /// A ticket on a disk would outlive the boot, so such a folder gets none.
    var canBeKept: Bool { secrets.isInMemory }

    /// Writes the session's ticket if it may have one, and notes whether it has one.
    func renew(_ entry: SessionEntry) {
        entry.hasTicket = entry.deadlines.survivesRestart && canBeKept && write(entry)
        if !entry.hasTicket { remove(entry.login) }
    }

    private func write(_ entry: SessionEntry) -> Bool {
        let id = entry.login.id, secret = Key<Deriving>.random(), boot = entry.deadlines.bootID
        let place = entry.secretPlace.other
        guard secrets.keep(secret, for: id, at: place) else { return false }
        let box = AEAD.seal(entry.encoded(), using: Self.sealing(secret, id), context: Self.context(id, boot))
        guard secrets.write(SecretBytes(copying: Self.magic + boot + [place.rawValue] + box.bytes), id) else { return false }
        // Only the new ticket opens now.
        secrets.removeSecret(of: id, at: place.other)
        entry.secretPlace = place
        return true
    }

    var ids: [[UInt8]] { secrets.ids }

    func holds(_ login: LoginReference) -> Bool { ids.contains(login.id) }

    func remove(_ login: LoginReference) { remove(login.id) }

    func remove(_ id: [UInt8]) { secrets.remove(id) }

    /// Every session with a ticket of this boot. All other tickets are removed.
    func restoreAll(at clock: ClockReading) -> [SessionEntry] {
        ids.compactMap { id in
            guard canBeKept, let entry = entry(id, clock) else {
                remove(id)
                return nil
            }
            entry.hasTicket = true
            return entry
        }
    }

    private func entry(_ id: [UInt8], _ clock: ClockReading) -> SessionEntry? {
        guard let bytes = secrets.read(id) else { return nil }
        let whole = bytes.withBytes { bytes in bytes.indices.map { bytes[$0] } }
        // The boot's id can only make a ticket invalid. An attacker who fakes it gains nothing without the secret.
        guard whole.count > Self.magic.count + 17, Array(whole.prefix(Self.magic.count)) == Self.magic,
            Array(whole[Self.magic.count..<Self.magic.count + 16]) == clock.bootID,
            let place = SecretPlace(rawValue: whole[Self.magic.count + 16]), let secret = secrets.secret(for: id, at: place)
        else { return nil }
        let box = SealedBox(stored: Array(whole[(Self.magic.count + 17)...]))
        guard
            let content = try? AEAD.open(
                box, using: Self.sealing(secret, id), context: Self.context(id, clock.bootID)),
            let entry = content.withBytes({ try? SessionEntry.decode($0, at: clock) }), entry.login.id == id,
            entry.deadlines.survivesRestart
        else { return nil }
        entry.secretPlace = place
        return entry
    }

    private static func sealing(_ secret: borrowing Key<Deriving>, _ id: [UInt8]) -> Key<Sealing> {
        secret.derive(Context(.sessionTicket, .bytes(id)))
    }

    private static func context(_ id: [UInt8], _ boot: [UInt8]) -> Context {
        Context(.sessionTicket, .bytes(id), .bytes(boot))
    }
}
