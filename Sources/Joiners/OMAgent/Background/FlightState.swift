// The state of the exchanges of one vault, and the next step of their thread.

internal import OMItems
internal import OMSystem
internal import OMVault

struct FlightState {
    /// Nil if there is nothing to exchange with.
    var keys: ClassKeys?
    var isUnlocked = false
    /// Whether the vault does not open with the keys any more.
    var areKeysUseless = false
    /// Whether a lock finds it: its vault is in the table.
    var isListed = false
    var hasThread = false
    var isOver = false
    var remotes: [RemoteDetails] = []
    var schedule: RemoteSchedule
    var activities: [UInt8: RemoteStatus] = [:]
    /// Not nil while the thread has keys and files of the vault.
    var current: Interruption?
    /// Not nil while the thread waits for news of a server, without keys.
    var watch: Watch?
    /// Rises with each change of the keys.
    var generation = 0

    var servers: [UInt8] { remotes.filter(\.isServer).map(\.id) }

    /// Whether there is nothing else to do until the end of a wait.
    func allows(_ watch: Watch) -> Bool {
        keys != nil && !isOver && generation == watch.generation && remotes.contains(watch.remote)
            && schedule.next(of: remotes.map(\.id)) >= watch.plan.end
    }

    /// A wait for news of a server.
    struct Watch {
        let remote: RemoteDetails
        let plan: RemoteSchedule.Watch
        let generation: Int
        let interruption = Interruption()
    }

    /// What the thread does next.
    enum Step {
        case work(Work)
        case watch(Watch)
    }

    struct Work {
        let keys: ClassKeys
        let generation: Int
        let due: [(remote: RemoteDetails, task: RemoteSchedule.Task)]
        let interruption: Interruption
    }
}
