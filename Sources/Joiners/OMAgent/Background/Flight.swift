// The thread that exchanges a vault with its remotes while the agent has keys of the vault. docs/formats/sync.md, "In the
// agent".

internal import COMSystem
internal import Glibc
internal import OMAgentProtocol
internal import OMItems
internal import OMStorage
internal import OMSystem
internal import OMVault

/// The exchanges of one vault.
///
/// It has a copy of the keys and opens the vault itself, so a folder that does not answer holds no request. It is no use of the
/// vault: the vault's time limits do not see it.
final class Flight: Sendable {
    private let paths: VaultPaths
    let plan: AgentSync
    private let state: Signalled<FlightState>

    init(of paths: VaultPaths, _ plan: AgentSync) {
        (self.paths, self.plan) = (paths, plan)
        state = Signalled(FlightState(schedule: RemoteSchedule(every: plan.interval)))
    }

    // MARK: - Keys

    /// Takes the keys of an unlock.
    func begin(_ keys: ClassKeys, _ remotes: [RemoteDetails]) {
        change { state in
            (state.keys, state.isUnlocked, state.areKeysUseless, state.remotes) = (keys, true, false, remotes)
            state.generation += 1
            state.schedule.noteKeys(at: bootMilliseconds())
        }
    }

    /// Lets the exchanges begin. Before that, a lock would not find the keys.
    func list() { change { $0.isListed = true } }

    /// Follows a lock, however it came. An exchange that runs with more keys is interrupted. Does not wait.
    func follow(_ keys: ClassKeys?, isUnlocked: Bool, _ remotes: () -> [RemoteDetails]) {
        change { state in
            guard state.isUnlocked != isUnlocked || (state.keys == nil) != (keys == nil) else { return }
            // Keys that a ticket brought.
            if state.keys == nil, keys != nil { state.remotes = remotes() }
            (state.keys, state.isUnlocked, state.areKeysUseless) = (keys, isUnlocked, false)
            state.generation += 1
            state.schedule.noteKeys(at: bootMilliseconds())
            // Attack: an attacker who has the folder does not answer, so that the keys stay in memory after a lock.
            if !isUnlocked { state.current?.begin() }
            if keys == nil { state.schedule.dropRequests() }
        }
    }

    /// Waits until no exchange has keys that a lock has taken away.
    func awaitRelease() { state.wait { state in state.current?.isAsked == true ? .never : .over(()) } }

    /// Ends it for ever. Does not wait.
    func end() {
        change { state in
            (state.keys, state.isOver) = (nil, true)
            state.current?.begin()
        }
    }

    // MARK: - What is due

    var knowsRemotes: Bool { state.change { !$0.remotes.isEmpty } }

    /// The vault was changed.
    func noteEdit(_ remotes: [RemoteDetails]?) {
        change { state in
            if let remotes { state.remotes = remotes }
            state.schedule.noteEdit(at: bootMilliseconds())
        }
    }

    /// The user asks for an exchange with these remotes.
    func ask(_ asked: [UInt8], of remotes: [RemoteDetails]) {
        change { state in
            (state.remotes, state.areKeysUseless) = (remotes, false)
            for remote in remotes where asked.contains(remote.id) { state.schedule.ask(remote.id) }
        }
    }

    /// What was done with these remotes.
    func activities(of remotes: [RemoteDetails]) -> [RemoteStatus] {
        state.change { state in
            remotes.map(\.id).sorted().map { id in
                var activity = state.activities[id] ?? RemoteStatus(of: id)
                activity.isAsked = state.schedule.isAsked(id)
                return activity
            }
        }
    }

    /// Changes the state, and starts the thread if there is something to do. Without a thread there are no exchanges.
    private func change(_ body: (inout FlightState) -> Void) {
        let needsThread = state.change { state in
            body(&state)
            if let watch = state.watch, !state.allows(watch) { watch.interruption.begin() }
            guard state.isListed, !state.hasThread, !state.isOver, state.keys != nil, !state.remotes.isEmpty else { return false }
            state.hasThread = true
            return true
        }
        guard needsThread, DetachedThread.start(stack: AgentServer.stack, { self.run() }) != 0 else { return }
        state.change { state in
            state.hasThread = false
            state.schedule.dropRequests()
        }
    }

    // MARK: - The thread

    /// Whether there is a thread, which ends when it has no keys.
    var hasThread: Bool { state.change { $0.hasThread } }

    private func run() {
        while performNext() {
            om_wipe_stack()
            // Only here the keys are gone for sure.
            state.change { $0.current = nil }
        }
    }

    /// - Returns: false at the end of the thread.
    private func performNext() -> Bool {
        switch awaitStep() {
        case .work(let work): perform(work)
        case .watch(let watch): perform(watch)
        case nil: return false
        }
        return true
    }

    /// Nil at the end of the thread.
    private func awaitStep() -> FlightState.Step? {
        state.wait { state in
            guard let keys = state.keys, !state.remotes.isEmpty, !state.isOver else {
                state.hasThread = false
                return .over(nil)
            }
            guard !state.areKeysUseless else { return .never }
            let (all, now) = (state.remotes.map(\.id), bootMilliseconds())
            let next = state.schedule.next(of: all)
            guard next <= now else {
                let (watch, due) = state.schedule.watch(of: state.servers, at: now, until: next)
                if let watch, let remote = state.remotes.first(where: { $0.id == watch.id }) {
                    let watch = FlightState.Watch(remote: remote, plan: watch, generation: state.generation)
                    state.watch = watch
                    return .over(.watch(watch))
                }
                let end = min(next, due)
                return end == RemoteSchedule.never ? .never : .until(end)
            }
            let due = state.schedule.takeDue(of: all, at: now)
            let interruption = Interruption()
            state.current = interruption
            let tasks = state.remotes.compactMap { remote in due.first { $0.id == remote.id }.map { (remote, $0.task) } }
            return .over(
                .work(FlightState.Work(keys: keys, generation: state.generation, due: tasks, interruption: interruption)))
        }
    }

    /// Waits for news of a server. Any other work ends the wait.
    private func perform(_ watch: FlightState.Watch) {
        let ending: RemoteSchedule.WatchEnding
        do throws(RemoteFailure) {
            let trace = try plan.work.trace(of: watch.remote, waiting: watch.plan.seconds, unless: watch.interruption)
            ending = trace + paths.stamp() == watch.plan.trace ? .quiet : .changed
        } catch { ending = .failed }
        state.change { state in
            state.watch = nil
            // An interruption says nothing of the server.
            guard !watch.interruption.isAsked else { return }
            state.schedule.note(ending, of: watch.plan, at: bootMilliseconds())
        }
    }

    private func perform(_ work: FlightState.Work) {
        var exchanges: [(remote: RemoteDetails, trace: [UInt8])] = []
        for (remote, task) in work.due {
            guard let trace = trace(of: remote, work) else { continue }
            if case .look(trace + paths.stamp()) = task {
                state.change { $0.schedule.noteQuiet(remote.id, at: bootMilliseconds()) }
            } else {
                exchanges.append((remote, trace))
            }
        }
        let settled = exchange(with: exchanges, work)
        // The vault is closed here, which changes its files. What another process wrote meanwhile comes within the hour.
        let stamp = paths.stamp()
        state.change { state in
            // Other keys can do more.
            guard state.generation == work.generation else { return }
            for (remote, trace) in settled { state.schedule.noteTrace(trace + stamp, of: remote.id) }
        }
    }

    /// What the remote shows now. Nil if it is not there.
    private func trace(of remote: RemoteDetails, _ work: FlightState.Work) -> [UInt8]? {
        do throws(RemoteFailure) { return try plan.work.trace(of: remote, waiting: 0, unless: work.interruption) } catch {
            note(RemoteEnding(error.passes ? .offline : .stopped, .remote(error), isSettled: false), of: remote, work)
            return nil
        }
    }

    /// - Returns: Those for which nothing is left to do until something changes.
    private func exchange(
        with remotes: [(remote: RemoteDetails, trace: [UInt8])], _ work: FlightState.Work
    ) -> [(remote: RemoteDetails, trace: [UInt8])] {
        guard !remotes.isEmpty else { return [] }
        do throws(VaultError) {
            let keepingOpen = KeepOpenOptions(unless: work.interruption, budget: MemoryBudget(bytes: 0))
            let vault = try paths.file().open(with: work.keys, keepingOpen: keepingOpen)
            // A remote that was added or moved meanwhile is seen now.
            let all = try plan.work.remotes(of: vault)
            state.change { $0.remotes = all }
            var settled: [(remote: RemoteDetails, trace: [UInt8])] = []
            for (remote, trace) in remotes where exchange(with: remote, of: vault, work) { settled.append((remote, trace)) }
            return settled
        } catch {
            for (remote, _) in remotes { note(RemoteEnding(.waiting, .vault(error), isSettled: false), of: remote, work) }
            // Another vault is at the path, or it was rekeyed. The next unlock brings other keys.
            if error == .rekeyed || error == .cannotUnlock { state.change { $0.areKeysUseless = true } }
            return []
        }
    }

    private func exchange(with remote: RemoteDetails, of vault: borrowing Vault, _ work: FlightState.Work) -> Bool {
        guard !work.interruption.isAsked else {
            noteInterrupted(remote)
            return false
        }
        let running = RemoteTask(interruption: work.interruption) { state, counts in
            self.note(state, counts, remote.id)
        }
        let ending = plan.work.exchange(with: remote, of: vault, running)
        note(ending, of: remote, work)
        return ending.isSettled
    }

    // MARK: - Notes

    private func note(_ step: RemoteState, _ counts: TransferStatus, _ id: UInt8) {
        state.change { state in
            var activity = state.activities[id] ?? RemoteStatus(of: id)
            (activity.state, activity.counts) = (step, counts)
            state.activities[id] = activity
        }
    }

    private func note(_ ending: RemoteEnding, of remote: RemoteDetails, _ work: FlightState.Work) {
        guard !work.interruption.isAsked else { return noteInterrupted(remote) }
        let now = Int64(time(nil))
        state.change { state in
            var activity = RemoteStatus(of: remote.id)
            (activity.state, activity.last) = (ending.state, .init(time: now, outcome: ending.outcome))
            state.activities[remote.id] = activity
            state.schedule.note(ending.state, of: remote.id, at: bootMilliseconds())
            if state.generation != work.generation { state.schedule.noteKeys(at: bootMilliseconds()) }
        }
    }

    private func noteInterrupted(_ remote: RemoteDetails) {
        state.change { state in
            state.activities[remote.id]?.state = .waiting
            state.activities[remote.id]?.counts = TransferStatus()
            state.schedule.noteInterrupted(remote.id, at: bootMilliseconds())
        }
    }
}

extension VaultPaths {
    /// The times and sizes of the vault's files, which change with each edit, also by another process.
    fileprivate func stamp() -> [UInt8] {
        ["", "-wal"].flatMap { ending in
            var facts = stat()
            let numbers =
                stat(vault + ending, &facts) == 0
                ? [Int64(facts.st_mtim.tv_sec), Int64(facts.st_mtim.tv_nsec), Int64(facts.st_size)] : [0, 0, 0]
            return numbers.flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
        }
    }
}
