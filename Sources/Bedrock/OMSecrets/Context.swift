// What a sealed thing, a derived key or a MAC is bound to. Without a context nothing is sealed or derived.

/// A purpose and the place it holds for, encoded so that two different contexts never give the same bytes.
///
///     Context(.record, .bytes(vaultID), .number(revision))
public struct Context: Hashable, Sendable {
    public enum Field: Hashable, Sendable {
        case bytes([UInt8])
        case number(UInt64)
        case text(String)
    }

    /// The encoding: label length (1 byte) ‖ label, then per field a tag (1 bytes, 2 number, 3 text) and either the
    /// length (8 bytes, big-endian) and the bytes, or the number (8 bytes, big-endian).
    let encoded: [UInt8]

    public init(_ label: Label, _ fields: Field...) {
        self.init(label, fields)
    }

    public init(_ label: Label, _ fields: [Field]) {
        let name = Array(label.rawValue.utf8)
        var encoded = [UInt8(name.count)] + name
        for field in fields {
            switch field {
            case .bytes(let bytes):
                encoded.append(1)
                encoded.append(bigEndian: UInt64(bytes.count))
                encoded += bytes
            case .number(let number):
                encoded.append(2)
                encoded.append(bigEndian: number)
            case .text(let text):
                encoded.append(3)
                encoded.append(bigEndian: UInt64(text.utf8.count))
                encoded += text.utf8
            }
        }
        self.encoded = encoded
    }
}

/// Every purpose in the house, in one list, so that no two rooms use the same one for two things.
public enum Label: String, CaseIterable, Sendable {
    // Slots and the device
    case slot = "omv/slot"
    case slotWrap = "omv/slot-wrap"
    case commit = "omv/commit"
    case deviceID = "omv/dkid"
    case highWaterMAC = "omv/high-water"
    // The vault
    case rootWrap = "omv/root"
    case headerMAC = "omv/header"
    case classWrap = "omv/class"
    case classWrapKey = "omv/class-wrap"
    case levelName = "omv/level/name"
    case levelDigest = "omv/level/digest"
    case levelState = "omv/level/state"
    case levelRecords = "omv/level/records"
    case name = "omv/name"
    case trash = "omv/trash"
    case tombstone = "omv/tombstone"
    case treeLeaf = "omv/tree/leaf"
    case treeNode = "omv/tree/node"
    case recordKey = "omv/record/key"
    case record = "omv/record"
    case recoveryChecksum = "omv/recovery-checksum"
    case logMAC = "omv/log"
    case backupName = "omv/backup/name"
    case backupSeal = "omv/backup/seal"
    case keyFileChecksum = "omv/key-file-checksum"
    // Logins
    case loginID = "omv/login/id"
    case loginRowMAC = "omv/login/row"
    case loginSlot = "omv/login/slot"
    case loginUnlock = "omv/login/unlock"
    case loginLogID = "omv/login/log-id"
    case loginLogMAC = "omv/login/log"
    // A server's policy
    case policyID = "omv/policy/id"
    case policyMAC = "omv/policy/row"
    // Remembered credentials
    case rememberID = "omv/remember/id"
    case rememberMAC = "omv/remember/row"
    case rememberKey = "omv/remember/key"
    case rememberLevel = "omv/remember/level"
    case rememberPassword = "omv/remember/password"
    // The agent
    case agentTicket = "omv/agent/ticket"
    case sessionTicket = "omv/agent/session"
    // The file container (docs/file-format.md)
    case fileCommit = "omv/file/commit"
    case filePayload = "omv/file/payload"
    case fileRecipient = "omv/file/recipient"
}

extension [UInt8] {
    mutating func append(bigEndian number: UInt64) {
        for shift in stride(from: UInt64(56), through: 0, by: -8) { append(UInt8(truncatingIfNeeded: number >> shift)) }
    }
}
