// The public part of a slot: its kind, its id, and how its secret is stretched. Format: docs/formats/vault-format.md, "Slot".

internal import OMRecords
internal import OMSecrets

/// The part of a slot that its commitment and its box are bound to.
struct SlotHeader: Hashable, Sendable {
    static let count = 58
    static let maximumCount = count + SharedKey.count
    private static let version: UInt8 = 1

    let kind: KeySlot.Kind
    let id: UInt32
    /// Nil for kinds that are not stretched.
    let stretch: Argon2id.Parameters?
    /// 16 bytes. Zeros for kinds that are not stretched.
    let salt: [UInt8]
    /// Seconds since 1970.
    let created: Int64
    /// The login's id: 16 bytes. Zeros for other kinds.
    let subject: [UInt8]
    /// Only in a shared recovery slot.
    let shared: SharedKey?

    /// version ‖ kind ‖ id (4) ‖ memory in KiB (4) ‖ passes (4) ‖ lanes (4) ‖ salt (16) ‖ created (8) ‖ subject (16)
    /// ‖ in a shared recovery slot: sender (32) ‖ owner (32)
    var encoded: [UInt8] {
        var bytes = [Self.version, kind.rawValue]
        bytes.append(number: id)
        bytes.append(number: stretch?.memoryKiB ?? 0)
        bytes.append(number: stretch?.passes ?? 0)
        bytes.append(number: stretch?.lanes ?? 0)
        bytes += salt
        bytes.append(number: created)
        return bytes + subject + (shared?.encoded ?? [])
    }

    init(
        _ kind: KeySlot.Kind, id: UInt32, _ stretch: Argon2id.Parameters?, salt: [UInt8], created: Int64,
        subject: [UInt8], shared: SharedKey? = nil
    ) {
        (self.kind, self.id, self.stretch, self.salt) = (kind, id, stretch, salt)
        (self.created, self.subject, self.shared) = (created, subject, shared)
    }

    init(decoding cursor: inout ByteCursor, in span: Span<UInt8>) throws(MalformedBytes) {
        guard try cursor.number(UInt8.self, in: span) == Self.version,
            let kind = KeySlot.Kind(rawValue: try cursor.number(in: span))
        else { throw MalformedBytes() }
        self.kind = kind
        id = try cursor.number(in: span)
        let memory: UInt32 = try cursor.number(in: span)
        let passes: UInt32 = try cursor.number(in: span)
        let lanes: UInt32 = try cursor.number(in: span)
        salt = try cursor.take(Argon2id.saltCount, in: span)
        if kind.isStretched {
            // The bounds are checked here, before memory is allocated: a file may ask for 4 TiB.
            do throws(SecretsError) {
                stretch = try Argon2id.Parameters(memoryKiB: memory, passes: passes, lanes: lanes)
            } catch { throw MalformedBytes() }
        } else {
            guard memory == 0, passes == 0, lanes == 0, salt.allSatisfy({ $0 == 0 }) else { throw MalformedBytes() }
            stretch = nil
        }
        created = try cursor.number(in: span)
        subject = try cursor.take(16, in: span)
        guard kind == .login || subject.allSatisfy({ $0 == 0 }) else { throw MalformedBytes() }
        shared = kind == .sharedRecovery ? try SharedKey(decoding: &cursor, in: span) : nil
    }
}
