// One exchange of a command with a remote, and its result in words.

internal import OMAgent
internal import OMAgentProtocol
internal import OMItems
internal import OMParcels
internal import OMRecords
internal import OMRemote
internal import OMSecrets
internal import OMShell
internal import OMSync
internal import OMSystem
internal import OMVault

/// What an exchange did, or why it did not.
struct RemoteExchange {
    enum State: String {
        /// All that was there is here, and the other way round.
        case idle
        /// Versions wait, or are held.
        case waiting
        case offline
        case stopped
        case failed
    }

    /// What to do about another life of this vault's file.
    static let rejoin = "a copy of this vault is in use elsewhere, or an older disk was put back: omvault device rejoin"

    let remote: RemoteRow
    /// Where it is. A server can be asked only if this process has made the exchange.
    private(set) var place: RemotePlace
    private(set) var pull = PullReport()
    private(set) var push = PushReport()
    private(set) var failure: Failure?

    init(with remote: RemoteRow, of vault: borrowing Vault, _ access: VaultAccess) {
        self.remote = remote
        place = RemotePlace(of: remote)
        let bar = TransferBar(for: remote.id, access.context)
        defer { bar.end() }
        do {
            place = try RemotePlace(of: remote, in: vault)
            let files = place.store(RemoteFolderName(vault: vault.id, incarnation: remote.incarnation))
            let status = try vault.syncStatus()
            let store = TransferStore(files, known: try vault.knownPacks(of: remote), device: status?.own.device ?? 0) {
                bar.show($0)
            }
            let report = try vault.synchronise(with: remote, store, now: secondsNow())
            (pull, push) = (report.pull, report.push)
            failure = Self.failure(pull, remote, try vault.syncStatus())
        } catch let error as VaultError {
            failure = access.failure(error)
        } catch let error as Failure {
            failure = error
        } catch let problem as RemoteNews.Problem {
            failure = Self.failure(problem, place)
        } catch {
            failure = Failure(anyError: error)
        }
    }

    /// The exchange that the agent made.
    init(with remote: RemoteRow, _ outcome: RemoteResult, _ status: SyncStatus, _ access: VaultAccess) {
        self.remote = remote
        place = RemotePlace(of: remote)
        switch outcome {
        case .report(let bytes):
            do throws(MalformedBytes) {
                let report = try SyncReport(decoding: bytes)
                (pull, push) = (report.pull, report.push)
                failure = Self.failure(pull, remote, status)
            } catch { failure = Failure(AgentError.misbehaved) }
        case .vault(let error): failure = access.failure(error)
        case .remote(let error): failure = place.failure(error)
        case .news(let problem): failure = Self.failure(problem, place)
        }
    }

    /// Exchanges with all remotes, so that the other devices hear of a change of the list of devices. The change is made
    /// already, so a failure is a notice.
    static func announceChange(to remotes: [RemoteRow], of vault: borrowing Vault, _ access: VaultAccess) {
        let failures = remotes.compactMap { RemoteExchange(with: $0, of: vault, access).failure }
        for failure in failures { access.context.output.notice(failure.message) }
        guard !failures.isEmpty else { return }
        access.context.output.notice("the devices there hear of it with the next exchange: omvault sync now")
    }

    var state: State {
        guard let failure else { return waits ? .waiting : .idle }
        switch failure.status {
        case .rollback: return .stopped
        case .network: return .offline
        default: return .failed
        }
    }

    private var waits: Bool {
        pull.waiting + pull.held + pull.braked > 0 || !lateDevices.isEmpty || !pull.unreadPacks.isEmpty
    }

    /// Devices whose files there are not whole, or older than before, and may be late.
    var lateDevices: [UInt32] { pull.notAccepted.filter { $0.value == .waits }.keys.sorted() }

    static func failure(_ problem: RemoteNews.Problem, _ place: RemotePlace) -> Failure {
        switch problem {
        case .notMounted: place.notMounted
        case .otherVault:
            Failure(
                .corrupt, "the remote in \(place.words) was founded by another vault, or its first file was changed",
                hint: place.isServer
                    ? "nothing of it was used; ask the administrator of the server"
                    : "nothing of it was used; put back the file \"remote\" of that folder")
        case .badRoll:
            Failure(
                .corrupt, "the list of devices in \(place.words) was changed without the keys",
                hint: "nothing of it was used")
        }
    }

    /// What stops the remote. Nil if nothing does.
    static func failure(_ pull: PullReport, _ remote: RemoteRow, _ status: SyncStatus?) -> Failure? {
        if pull.needsLaterVersion {
            return Failure(
                .unsupported, "remote \(remote.id) has an entry of a later omvault; nothing was exchanged", hint: "update omvault"
            )
        }
        guard !pull.isRemoved else {
            return Failure(
                .policy, "remote \(remote.id): this device was removed from the devices of the vault",
                hint: "the items stay here, and sync no more")
        }
        if let forgers = pull.forgers[remote.id] {
            let names = forgers.sorted().map { "\"\((status?.name(of: $0) ?? SyncStatus.digits($0)).shown)\"" }
            return Failure(
                .rollback,
                "remote \(remote.id) is stopped: \(names.joined(separator: ", ")) has edits of this device that it never made",
                hint: Self.rejoin)
        }
        guard pull.isStopped else { return nil }
        let reasons = pull.notAccepted.sorted { $0.key < $1.key }.compactMap { device, decision in
            words(decision, status?.name(of: device) ?? SyncStatus.digits(device))
        }
        let isClone = pull.notAccepted.values.contains(.isClone)
        // The own head can be late where an older disk was put back, and another device has read it.
        let isDisputed = !isClone && pull.notAccepted.values.contains(.isDisputed)
        return Failure(
            .rollback,
            "remote \(remote.id) is stopped: "
                + (reasons.isEmpty ? "two entries of the list of devices exclude each other" : reasons.joined(separator: "; ")),
            hints: [
                isClone
                    ? Self.rejoin
                    : reasons.isEmpty
                        ? "omvault sync diff shows them, and omvault sync resolve NUMBER chooses one"
                        : "if an older copy of the folder was put back, put back its newest files, or make a new remote there:"
                            + " omvault sync remote accept \(remote.id) --create"
            ] + (isDisputed ? ["if an older disk of this device was put back: omvault device rejoin"] : []) + [
                "nothing was taken or deleted; the other remotes still sync"
            ])
    }

    private static func words(_ decision: KnownHeads.Decision, _ device: String) -> String? {
        let device = "\"\(device.shown)\""
        return switch decision {
        case .isRolledBack: "it shows an older state of \(device) than before"
        case .isForked: "there are two histories of \(device)"
        case .isDisputed: "\(device) and another device contradict each other"
        case .isClone: "there is another copy of the vault of \(device)"
        case .isNew, .isKnown, .waits, .isRefused: nil
        }
    }
}
