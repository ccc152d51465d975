// The agent's exchanges with remotes: joins OMSync to OMAgent. Each folder is reached by a confined helper.

internal import Glibc
internal import OMAgent
internal import OMItems
internal import OMParcels
internal import OMSync
internal import OMSystem
internal import OMVault

struct BackgroundSync: RemoteSync {
    func remotes(of vault: borrowing Vault) throws(VaultError) -> [UInt8] { try vault.remotes().map(\.id) }

    func exchange(with remote: UInt8, of vault: borrowing Vault, unless interruption: Interruption) -> RemoteState {
        do {
            guard let row = try vault.remotes().first(where: { $0.id == remote }) else { return .idle }
            let folder = ConfinedFolder(
                in: row.path, vault: vault.id, incarnation: row.incarnation, helper: AgentProcess.ownProgram,
                interruption: interruption)
            return Self.state(try vault.synchronise(with: row, folder, now: Int64(time(nil))), remote)
        } catch is ConfinedFolder.Failure {
            return .offline
        } catch let problem as RemoteNews.Problem {
            // Attack: a changed file of a remote. It stays as it is, and the user sees it with `sync now`.
            return problem == .notMounted ? .offline : .stopped
        } catch let error as VaultError {
            // The disk is full, or a command exchanges now.
            if case .storage = error { return .waiting }
            return .stopped
        } catch {
            return .stopped
        }
    }

    private static func state(_ report: SyncReport, _ remote: UInt8) -> RemoteState {
        let pull = report.pull
        if pull.isStopped || pull.isRemoved || pull.needsLaterVersion || pull.forgers[remote] != nil { return .stopped }
        if pull.braked > 0 { return .held }
        return pull.waiting > 0 || pull.notAccepted.values.contains(.waits) ? .waiting : .idle
    }
}
