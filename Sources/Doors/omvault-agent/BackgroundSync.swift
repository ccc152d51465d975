// The agent's exchanges with remotes: joins OMSync to OMAgent. Each remote is reached by a confined helper.

internal import Glibc
internal import OMAgent
internal import OMAgentProtocol
internal import OMItems
internal import OMParcels
internal import OMSecrets
internal import OMSync
internal import OMSystem
internal import OMVault

struct BackgroundSync: RemoteSync {
    private let looks = ServerLooks()

    func remotes(of vault: borrowing Vault) throws(VaultError) -> [RemoteDetails] {
        let rows = try vault.remotes()
        guard !rows.isEmpty, let device = try vault.readSync({ $0.own?.device }) else { return [] }
        return rows.map { row in
            RemoteDetails(id: row.id, vault: vault.id, incarnation: row.incarnation, path: row.path, device: device)
        }
    }

    func facts(of vault: borrowing Vault) throws(VaultError) -> SyncSummary {
        let members = try vault.syncStatus()?.members ?? []
        let open = try vault.openQuestions(now: Int64(time(nil)))
        return SyncSummary(
            questions: open.questions.count, copies: open.copies, names: open.meanings,
            awaited: open.awaited.sorted { $0.key < $1.key }.map { SyncSummary.Waiting(device: $0.key, since: $0.value) },
            devices: members.compactMap { member in
                member.name.map { SyncSummary.Name(device: member.number, text: $0.text) }
            })
    }

    /// The names of all files of other devices, and the digests of their heads. A head is written over an older one, so its name
    /// says nothing.
    func trace(
        of remote: RemoteDetails, waiting seconds: UInt8, unless interruption: Interruption
    ) throws(RemoteFailure) -> [UInt8] {
        guard !remote.isServer else { return try looks.trace(of: remote, waiting: seconds, unless: interruption) }
        let folder = Self.folder(of: remote, interruption)
        var trace = RemoteTrace(of: remote)
        for file in try folder.files() where trace.counts(file) {
            switch file {
            case .head, .headCopy, .heads: trace.add(file, digest: PublicHash.hash(try folder.bytes(of: file) ?? []))
            default: trace.add(file, digest: nil)
            }
        }
        return trace.digest
    }

    func exchange(
        with remote: RemoteDetails, of vault: borrowing Vault, _ running: RemoteTask
    ) -> RemoteEnding {
        do throws(any Error) {
            guard let row = try vault.remotes().first(where: { $0.id == remote.id }) else {
                return RemoteEnding(.idle, .report(SyncReport().encoded), isSettled: true)
            }
            let progress = ExchangeProgress(running)
            let confined = try confined(row, remote, in: vault, interruption: running.interruption)
            let store = TransferStore(confined, known: try vault.knownPacks(of: row), device: remote.device) {
                progress.counts = TransferStatus($0)
            }
            let report = try vault.synchronise(with: row, store, now: Int64(time(nil))) { progress.step = $0 }
            if case .server(let server) = confined { looks.note(server, of: remote) }
            return Self.ending(report, remote.id)
        } catch let failure as RemoteFailure {
            if case .vault(let error) = failure { return Self.ending(error) }
            return RemoteEnding(failure.passes ? .offline : .stopped, .remote(failure), isSettled: false)
        } catch let problem as RemoteNews.Problem {
            // Attack: a changed file of a remote. It stays as it is until the user looks.
            return RemoteEnding(problem == .notMounted ? .offline : .stopped, .news(problem), isSettled: false)
        } catch let error as VaultError {
            return Self.ending(error)
        } catch {
            return RemoteEnding(.stopped, .vault(.corrupt(.sync)), isSettled: false)
        }
    }

    private static func ending(_ error: VaultError) -> RemoteEnding {
        // Otherwise the disk is full, a command exchanges now, or the vault has other keys since. That passes.
        let isLasting = error.isDamage || error == .laterContent
        return RemoteEnding(isLasting ? .stopped : .waiting, .vault(error), isSettled: false)
    }

    private func confined(
        _ row: RemoteRow, _ remote: RemoteDetails, in vault: borrowing Vault, interruption: Interruption
    ) throws(VaultError) -> ConfinedRemote {
        guard let url = row.url else { return .folder(Self.folder(of: remote, interruption)) }
        return .server(
            ConfinedServer(
                at: url, vault: remote.vault, incarnation: remote.incarnation, login: VaultServerLogin(of: row, in: vault),
                knowing: try vault.knownFiles(of: row), remembering: looks.memory(of: remote), helper: AgentProcess.ownProgram,
                interruption: interruption))
    }

    private static func folder(of remote: RemoteDetails, _ interruption: Interruption) -> ConfinedFolder {
        ConfinedFolder(
            in: remote.path, vault: remote.vault, incarnation: remote.incarnation, helper: AgentProcess.ownProgram,
            interruption: interruption)
    }

    private static func ending(_ report: SyncReport, _ remote: UInt8) -> RemoteEnding {
        let pull = report.pull
        let isLate = pull.notAccepted.values.contains(.waits)
        let state: RemoteState =
            if pull.isStopped || pull.isRemoved || pull.needsLaterVersion || pull.forgers[remote] != nil {
                .stopped
            } else if pull.braked > 0 {
                .held
            } else {
                pull.waiting > 0 || isLate || report.push.skipped > 0 ? .waiting : .idle
            }
        // A file that is not whole yet can become whole under its name.
        return RemoteEnding(state, .report(report.encoded), isSettled: !isLate)
    }
}

/// Tells the agent how far an exchange is.
private final class ExchangeProgress {
    private let running: RemoteTask
    var counts = TransferStatus() { didSet { tell() } }
    var step = SyncStep.pulling { didSet { tell() } }

    init(_ running: RemoteTask) { self.running = running }

    private func tell() {
        let state: RemoteState =
            switch step {
            case .pulling: .pulling
            case .applying: .applying
            case .pushing: .pushing
            }
        running.note(state, counts)
    }
}

extension TransferStatus {
    fileprivate init(_ amount: TransferState) {
        self.init(
            read: UInt32(clamping: amount.read), toRead: UInt32(clamping: amount.toRead),
            written: UInt64(clamping: amount.bytesWritten))
    }
}
