// The requests about exchanges with remotes. Format: docs/formats/agent-protocol.md, "Sync". None is a use of the vault.

internal import OMItems
internal import OMSystem
internal import OMVault

extension VaultHandle {
    /// Which remotes a request asks an exchange of.
    enum AskedRemotes: Sendable {
        case none
        case all
        case one(UInt8)
    }

    /// Says what was done with the remotes, and asks for exchanges. It waits for none.
    ///
    /// - Parameter needsFacts: Whether the answer has the open questions, for which all items are read.
    func sync(_ asked: AskedRemotes, needsFacts: Bool) -> AgentReply {
        withState { state in
            expireIfDue(&state)
            guard let flight, state.keys != nil else { return .locked(state.level) }
            // A thread waits to lock the vault.
            guard !interruption.isAsked else { return .locked(state.afterLock) }
            do throws(VaultError) {
                let loaded = try current(&state)
                let remotes = try flight.plan.work.remotes(of: loaded.vault)
                switch asked {
                case .none: break
                case .all: flight.ask(remotes.map(\.id), of: remotes)
                case .one(let id): flight.ask([id], of: remotes)
                }
                let facts = needsFacts && state.isUnlocked ? try flight.plan.work.facts(of: loaded.vault) : nil
                return .sync(AgentSyncStatus(remotes: flight.activities(of: remotes), facts: facts))
            } catch {
                return refusal(error, &state)
            }
        }
    }

    /// The remotes of an open vault. None if they cannot be read: the command that reads them says why.
    func remotes(of loaded: LoadedVault?) -> [RemoteDetails] {
        guard let flight, let loaded else { return [] }
        return (try? flight.plan.work.remotes(of: loaded.vault)) ?? []
    }

    /// A remote that was added since the unlock is seen after an edit.
    func noteEdit(of loaded: LoadedVault) {
        guard let flight else { return }
        flight.noteEdit(flight.knowsRemotes ? nil : remotes(of: loaded))
    }
}
