// The errors of a remote's folder or server, in words.

internal import OMAgent
internal import OMAgentProtocol
internal import OMItems
internal import OMOnlineModel
internal import OMShell
internal import OMSystem

extension RemotePlace {
    /// What a failed reading or writing means for the user.
    func failure(_ error: RemoteFailure) -> Failure {
        switch error {
        case .storage(let error): unreachable(error)
        case .server(let refusal): failure(refusal)
        case .vault(let error): Failure(error, vault: nil)
        case .helper(.deadline), .interrupted:
            Failure(
                .network, "\(words) does not answer",
                hint: isServer ? "check the network, and try again" : "mount the stick or share again, and try again")
        case .helper(.misbehaved):
            Failure(
                .agent, "the process that \(isServer ? "speaks to" : "reads and writes") \"\(path.shown)\" ended",
                hint: "nothing is lost; run the command again")
        case .helper(let error): Failure(error)
        }
    }

    /// A missing folder is "not mounted" and never "empty".
    func unreachable(_ error: StorageError) -> Failure {
        guard error == .missing || error == .io(20) else { return Failure(error).about(path) }
        return notMounted
    }

    var notMounted: Failure {
        isServer
            ? Failure(
                .network, "\(words) has no such remote for this account",
                hint: "another account may have it, or it was lost: omvault sync remote ls shows the servers")
            : Failure(
                .network, "the folder \"\(path.shown)\" is not there, or has no remote of this vault",
                hint: "mount the stick or share and try again; omvault sync remote ls shows the folders")
    }

    // MARK: - Servers

    private func failure(_ refusal: ServerRefusal) -> Failure {
        switch refusal {
        case .online(let refusal): failure(refusal)
        case .loggedOut:
            Failure(
                .remoteAuth, "\(words) does not take the login of this device any more",
                hint: "log in again: omvault sync remote add \(path.shown) --user NAME")
        case .missing: notMounted
        case .conflict:
            Failure(
                .rollback, "\(words) has other files of this device than this vault wrote: another copy of the vault is in use",
                hints: [
                    RemoteExchange.rejoin,
                    "nothing was taken or deleted; the other remotes still sync",
                ])
        case .full:
            Failure(
                .io, "\(words) has no space left for this account, or for this device",
                hint: "delete items, or ask the administrator of the server; nothing is lost here, and other devices still read")
        case .refused(let status):
            Failure(
                .remoteError, "\(words) refused what this device sent (status \(status)), so it is stopped",
                hint: "to send it again cannot help: update omvault, or ask the administrator of the server")
        }
    }

    private func failure(_ refusal: OnlineRefusal) -> Failure {
        switch refusal {
        case .unreachable(let cause):
            Failure(.network, "\(words) was not reached: \(cause.words)", hint: "check the network and the address")
        case .untrusted(let cause):
            Failure(
                .remoteError, "\(words) could not prove its identity, so nothing was sent to it: \(cause.words)",
                hint: "omvault sync remote add \(path.shown) --ca FILE names the certificates to trust for this server")
        case .failed(.unsafeAddress, _, _):
            Failure(.usage, "\(words) was not asked: its address is not safe", hint: "use https; http is for this machine only")
        case .failed(.unusableTrust, _, _):
            Failure(.config, "the file of --ca holds no certificate", hint: "it must be a PEM file")
        case .failed(let failure, let status, let wait) where !failure.isOurs:
            Failure(
                .remoteError, "\(words) gave no usable answer: \(failure.words)\(status.map { " (status \($0))" } ?? "")",
                hint: wait.map { "try again in \($0) s" } ?? "try again; if it stays so, ask the administrator of the server")
        default: Failure(refusal)
        }
    }
}
