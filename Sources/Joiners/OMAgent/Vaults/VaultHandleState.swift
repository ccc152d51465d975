// What a handle holds, and what is said of it to those who do not wait for it.

internal import OMVault

/// The keys and the open file of one vault in the agent, and when they go.
struct VaultHandleState {
    var loaded: LoadedVault?
    var keys: ClassKeys?
    /// The login whose slot brought the keys; nil for any other slot.
    var login: [UInt8]?
    var isUnlocked = false
    /// Seconds, and points on the boot clock in seconds.
    var idle: Int64 = 0
    var lastUse: Int64 = 0
    var end: Int64 = 0
    /// When to look for a purge that was held up, and how long to wait if it still is.
    var purge: (due: Int64, pause: Int64)?

    var level: AgentVaultState { keys == nil ? .locked : isUnlocked ? .unlocked : .firstUnlocked }
    /// When it locks by itself.
    var ends: (idle: Int64, hard: Int64)? { isUnlocked ? (lastUse + idle, end) : nil }
    /// What is told while somebody waits to lock it.
    var afterLock: AgentVaultState { isUnlocked ? .firstUnlocked : level }

    /// Lets the keys of when-unlocked go; with `forgets` the others too.
    mutating func lock(forgets: Bool, at now: Int64) {
        let rest = forgets ? nil : keys?.afterLock
        // Whatever another process could not purge while this one read: there is no later moment that is sure to come.
        let purge = loaded == nil ? self.purge : (due: now, pause: 1)
        let login = login
        // The open vault holds keys of its own; a new one is opened with what is left of them.
        self = VaultHandleState(lastUse: lastUse, purge: purge)
        guard let rest, !rest.levels.isEmpty else { return }
        (keys, self.login) = (rest, login)
    }
}

/// What can be said of a handle while a request works on it.
struct VaultHandleSummary {
    var level = AgentVaultState.locked
    var login: [UInt8]?
    var ends: (idle: Int64, hard: Int64)?
    /// Its time ran out while a request worked on it, and that request was asked to give up.
    var isOverdue = false
}
