/// Every purpose of a context, in one list. So no two rooms use the same label for different things.
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
    case chunkKey = "omv/chunk/key"
    case chunk = "omv/chunk"
    case spooledChunk = "omv/spool"
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
    // Sync (docs/formats/sync.md)
    case syncCopy = "omv/sync/copy"
    case syncValue = "omv/sync/value"
    // The file container (docs/formats/file-format.md)
    case fileCommit = "omv/file/commit"
    case filePayload = "omv/file/payload"
    case fileRecipient = "omv/file/recipient"
}
