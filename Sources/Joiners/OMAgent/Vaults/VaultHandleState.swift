// The state of a handle, and its summary for threads that do not wait for the handle.

internal import OMAgentProtocol
internal import OMVault

/// The keys and the open file of one vault in the agent, and their time limits.
struct VaultHandleState {
    var loaded: LoadedVault?
    var keys: ClassKeys?
    /// The login whose slot opened the vault. Nil for any other slot.
    var login: [UInt8]?
    var isUnlocked = false
    /// `idle` is a number of seconds. `lastUse` and `end` are seconds since boot.
    var idle: Int64 = 0
    var lastUse: Int64 = 0
    var end: Int64 = 0
    /// When to try a delayed purge again, and how long to wait if it is still delayed then.
    var purge: (due: Int64, pause: Int64)?

    var level: AgentVaultState { keys == nil ? .locked : isUnlocked ? .unlocked : .firstUnlocked }
    /// When the vault locks by itself.
    var ends: (idle: Int64, hard: Int64)? { isUnlocked ? (lastUse + idle, end) : nil }
    /// The state to report while a thread waits to lock the vault.
    var afterLock: AgentVaultState { isUnlocked ? .firstUnlocked : level }

    /// Wipes the keys of the when-unlocked levels. With `forgets` it also wipes the others.
    mutating func lock(forgets: Bool, at now: Int64) {
        let rest = forgets ? nil : keys?.afterLock
        // While this process read, another process may have been unable to purge. No later moment is sure to come.
        let purge = loaded == nil ? self.purge : (due: now, pause: 1)
        let login = login
        // The open vault holds its own keys, so it is closed. The next use opens it with the remaining keys.
        self = VaultHandleState(lastUse: lastUse, purge: purge)
        guard let rest, !rest.levels.isEmpty else { return }
        (keys, self.login) = (rest, login)
    }
}

/// The facts about a handle that are known while a request uses it.
struct VaultHandleSummary {
    var level = AgentVaultState.locked
    var login: [UInt8]?
    var ends: (idle: Int64, hard: Int64)?
    /// Whether the vault's time ran out during a request. That request was asked to give up.
    var isOverdue = false
}
