// The sessions that logins left behind: judged, used, renewed through one flight at a time, ended. What a server gave
// goes to that server and nowhere else. No lock is held while a server or a ledger is asked.

internal import OMAuth
internal import OMRecords
internal import OMSecrets
internal import OMStorage

/// What the agent keeps of logins. docs/agent-protocol.md, "Sessions".
final class SessionStore: Sendable {
    typealias Ask = @Sendable (consuming OnlineQuestion) -> OnlineReply
    typealias Clear = @Sendable (AgentLogin, ClearingEvent) -> Void

    static let maximum = 64
    /// A server is waited for so many milliseconds, whatever the profile says: two flights fit into a client's patience.
    static let longestFlight: UInt32 = 40_000

    let entries = Guarded<[AgentLogin: SessionEntry]>([:])
    private let tickets: SessionTickets?
    private let ask: Ask
    private let clear: Clear
    private let clock: @Sendable () -> ClockReading

    /// - Parameters:
    ///   - tickets: nil: none is kept.
    ///   - ask: puts a question to a server.
    ///   - clear: carries out what an event takes away of what is stored about a login.
    init(
        _ tickets: SessionTickets?, ask: @escaping Ask, clear: @escaping Clear,
        clock: @escaping @Sendable () -> ClockReading = { ClockReading.now() }
    ) {
        (self.tickets, self.ask, self.clear, self.clock) = (tickets, ask, clear, clock)
    }

    /// Takes up the sessions that the agent before this one left.
    func resume() {
        guard let tickets else { return }
        let clock = clock()
        entries.withLock { entries in
            for entry in tickets.takeUp(at: clock) where entries.count < Self.maximum { entries[entry.login] = entry }
        }
    }

    // MARK: - Requests

    /// - Returns: false when every place is taken by a session that is valid.
    func keep(_ kept: consuming KeptSession) -> Bool {
        let clock = clock()
        let new = SessionEntry(kept, at: clock)
        let (isKept, replaced) = entries.withLock { entries -> (Bool, SessionEntry?) in
            let old = entries[new.login]
            if old == nil, entries.count >= Self.maximum {
                let idle = entries.values.filter { $0.isIdle(at: clock) }.min { $0.lastUse < $1.lastUse }
                guard let idle else { return (false, nil) }
                entries[idle.login] = nil
                tickets?.remove(idle.login)
            }
            // An offline login goes on with what the server gave to the one before.
            if let old, old.goesOn(with: new) {
                tickets?.renew(old)
                return (true, nil)
            }
            entries[new.login] = new
            old?.isLeaving = true
            tickets?.renew(new)
            return (true, old)
        }
        // The same cookie may stand in the new session, so only tokens are taken back.
        if let replaced, replaced.isOAuth { Errand.run { [self] in _ = depart(replaced, password: nil) } }
        return isKept
    }

    /// Notes a use.
    func use(_ login: AgentLogin) -> AgentSession? {
        let clock = clock()
        return entries.withLock { entries in
            guard let entry = entries[login] else { return nil }
            entry.use(at: clock)
            tickets?.renew(entry)
            return entry.description(at: clock)
        }
    }

    func list() -> [AgentSession] {
        let clock = clock()
        return entries.withLock { entries in entries.values.compactMap { $0.description(at: clock) } }
    }

    /// Asks the server whether the session counts; with `anew` for new tokens in any case.
    func renew(_ login: AgentLogin, anew: Bool) -> SessionVerdict {
        while true {
            switch step(login, anew) {
            case .answer(let verdict): return verdict
            case .join(let flight):
                let verdict = flight.wait()
                if flight.isAnew || !anew { return verdict }
            case .fly(let entry, let flight, let question):
                let verdict = land(entry, ask(question))
                flight.land(verdict)
                return verdict
            }
        }
    }

    private enum Step: ~Copyable {
        case answer(SessionVerdict)
        case join(Flight)
        case fly(SessionEntry, Flight, OnlineQuestion)
    }

    private func step(_ login: AgentLogin, _ anew: Bool) -> Step {
        let clock = clock()
        return entries.withLock { entries in
            guard let entry = entries[login], let state = entry.description(at: clock)?.state, state != .idle else {
                return .answer(.none)
            }
            if let flight = entry.flight { return .join(flight) }
            guard let question = entry.question(anew: anew) else {
                return .answer(.refused(.failed(.unusableSession)))
            }
            let flight = Flight(anew: anew)
            entry.flight = flight
            return .fly(entry, flight, question)
        }
    }

    private func land(_ entry: SessionEntry, _ reply: consuming OnlineReply) -> SessionVerdict {
        let clock = clock()
        // A closure cannot consume what it captured, but it can take it.
        var reply: OnlineReply? = reply
        return entries.withLock { entries in
            entry.flight = nil
            switch reply.take() {
            case .none: return .none
            case .accepted(let acceptance)?:
                // Also of one that is leaving meanwhile: its logout is to take back the newest.
                let lifetime = acceptance.lifetime
                if let session = acceptance.takeSession() { entry.take(session, lifetime: lifetime, at: clock) }
                guard !entry.isLeaving else { return .none }
                entry.use(at: clock)
                tickets?.renew(entry)
                return entry.description(at: clock).map { .valid($0) } ?? .none
            case .refused(let refusal)?:
                guard refusal.endsSession else { return .refused(refusal) }
                entry.forget()
                if entries[entry.login] === entry {
                    entries[entry.login] = nil
                    tickets?.remove(entry.login)
                }
                return .refused(refusal)
            }
        }
    }

    /// Forgets the session at once, and asks the server to.
    ///
    /// - Parameter waits: whether for the server's answer.
    func end(_ login: AgentLogin, waits: Bool, password: consuming SecretBytes?) -> SessionEnding {
        let entry = entries.withLock { entries in
            tickets?.remove(login)
            let entry = entries.removeValue(forKey: login)
            entry?.isLeaving = true
            return entry
        }
        guard let entry else { return SessionEnding(wasThere: false, wasServerAsked: false, refusal: nil) }
        guard waits else {
            Errand.run { [self] in _ = depart(entry, password: nil) }
            return SessionEnding(wasThere: true, wasServerAsked: false, refusal: nil)
        }
        return depart(entry, password: password)
    }

    /// Ends at the server what has ended here already.
    private func depart(_ entry: SessionEntry, password: consuming SecretBytes?) -> SessionEnding {
        while let flight = entries.withLock({ _ in entry.flight }) { _ = flight.wait() }
        var password: SecretBytes? = password
        let question = entries.withLock { _ in entry.takeLogout(password: password.take()) }
        switch consume question {
        case .none: return SessionEnding(wasThere: true, wasServerAsked: false, refusal: nil)
        case .some(let question):
            switch ask(question) {
            case .accepted: return SessionEnding(wasThere: true, wasServerAsked: true, refusal: nil)
            case .refused(let refusal):
                var wasServerAsked = true
                if case .failed(.noLogout, _, _) = refusal { wasServerAsked = false }
                return SessionEnding(wasThere: true, wasServerAsked: wasServerAsked, refusal: refusal)
            }
        }
    }

    // MARK: - The clock

    /// Ends what is over.
    ///
    /// - Returns: when there is something to do next, in seconds since boot; nil for never.
    func judge() -> Int64? {
        let clock = clock()
        let (idle, over, next) = entries.withLock { entries in
            let over = entries.values.filter { $0.description(at: clock) == nil }
            for entry in over {
                entry.isLeaving = true
                entries[entry.login] = nil
            }
            let idle = entries.values.filter { $0.becomesIdle(at: clock) }.map(\.login)
            return (idle, over, entries.values.compactMap { $0.nextChange(after: clock) }.min())
        }
        if !idle.isEmpty || !over.isEmpty {
            Errand.run { [self] in
                for login in idle { clear(login, .idleTimeOut) }
                for entry in over {
                    clear(entry.login, .sessionTimeOut)
                    // Only now: an agent that ends before finds the ticket, and does it again.
                    entries.withLock { entries in
                        if entries[entry.login] == nil { tickets?.remove(entry.login) }
                    }
                    _ = depart(entry, password: nil)
                }
            }
        }
        return next
    }
}

extension OnlineRefusal {
    /// Whether the server says that the session is spent.
    fileprivate var endsSession: Bool {
        switch self {
        case .rejected, .blocked, .failed(.invalidGrant, _, _): true
        default: false
        }
    }
}
