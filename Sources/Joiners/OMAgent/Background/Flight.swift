// The thread that exchanges a vault with its remotes while the vault is unlocked. docs/formats/sync.md, "In the agent".

internal import COMSystem
internal import OMAgentProtocol
internal import OMItems
internal import OMStorage
internal import OMSystem
internal import OMVault

/// The exchanges from one unlock to the next lock.
///
/// It has a copy of the keys and opens the vault itself, so a folder that does not answer holds no request. It is no use of the
/// vault: the vault's time limits do not see it.
final class Flight: Sendable {
    private let paths: VaultPaths
    private let plan: AgentSync
    private let interruption = Interruption()
    private let state: Signalled<State>

    private struct State {
        /// Nil after the end.
        var keys: ClassKeys?
        var schedule: RemoteSchedule
        var hasEnded = false
    }

    /// Starts it. Without a thread there is no flight.
    init(of paths: VaultPaths, _ keys: ClassKeys, _ plan: AgentSync) {
        (self.paths, self.plan) = (paths, plan)
        state = Signalled(State(keys: keys, schedule: RemoteSchedule(every: plan.interval)))
        if DetachedThread.start(stack: AgentServer.stack, { self.run() }) != 0 { finish() }
    }

    /// The vault was changed.
    func noteEdit() { state.change { $0.schedule.noteEdit(at: bootMilliseconds()) } }

    /// Asks it to end. Does not wait.
    func end() {
        interruption.begin()
        state.change { _ in }
    }

    var isEnding: Bool { interruption.isAsked }
    var hasEnded: Bool { state.change { $0.hasEnded } }

    /// Waits until it has wiped its keys. Call ``end()`` first.
    func awaitEnd() { state.wait { state in state.hasEnded ? .over(()) : .never } }

    // MARK: - The thread

    private func run() {
        while awaitDue() {
            let goesOn = exchangeDue()
            om_wipe_stack()
            guard goesOn else { break }
        }
        finish()
    }

    private func finish() {
        state.change { state in (state.keys, state.hasEnded) = (nil, true) }
    }

    /// - Returns: false if it was asked to end.
    private func awaitDue() -> Bool {
        state.wait { state in
            if interruption.isAsked { return .over(false) }
            let next = state.schedule.next
            return next <= bootMilliseconds() ? .over(true) : .until(next)
        }
    }

    /// - Returns: false if the keys open the vault no more.
    private func exchangeDue() -> Bool {
        // The vault holds keys and files only while it is exchanged, so that a stick can be unmounted in between.
        do throws(VaultError) {
            guard let keys = state.change({ $0.keys }) else { return false }
            let keepingOpen = KeepOpenOptions(unless: interruption, budget: MemoryBudget(bytes: 0))
            let vault = try paths.file().open(with: keys, keepingOpen: keepingOpen)
            let all = try plan.work.remotes(of: vault)
            for remote in state.change({ $0.schedule.takeDue(of: all, at: bootMilliseconds()) }) {
                guard !interruption.isAsked else { return false }
                let result = plan.work.exchange(with: remote, of: vault, unless: interruption)
                state.change { $0.schedule.note(result, of: remote, at: bootMilliseconds()) }
            }
        } catch {
            if error == .rekeyed || error == .cannotUnlock { return false }
            state.change { $0.schedule.postpone(at: bootMilliseconds()) }
        }
        return true
    }
}
