// The agent's server: one process of one user that holds the keys of unlocked vaults. Each connection has its own
// thread, and everything is bounded. The first thread waits for connections, for the clock and for signals.

internal import COMSystem
internal import Glibc
package import OMAgentProtocol
internal import OMAuth
internal import OMItems
internal import OMOnlineModel
internal import OMRecords
internal import OMSecrets
internal import OMSystem
internal import OMVault
internal import Synchronization

/// Serves clients until it is asked to stop. Harden the process before the first secret gets into it:
/// ``AgentProcess/harden(hidesMemory:)``.
package final class AgentServer: Sendable {
    /// In seconds.
    package struct TimeOuts: Sendable {
        package static let longest: UInt32 = 30 * 24 * 3600

        package let idle: UInt32
        package let hard: UInt32

        package static func isAllowed(_ seconds: UInt32) -> Bool { (1...longest).contains(seconds) }

        package init(idle: UInt32 = 600, hard: UInt32 = 12 * 3600) { (self.idle, self.hard) = (idle, hard) }
    }

    /// The stack of each thread in bytes. It is small, because there can be many threads.
    static let stack = 1 << 20

    private let listening: ListeningSocket
    private let timeOuts: TimeOuts
    private let vaults: VaultTable
    private let sessions: SessionStore
    private let handouts: HandoutLog
    private let requesters: Requesters
    /// The number of connections, and of those whose request is being answered.
    private let clients = Mutex<(all: Int, working: Int)>((0, 0))
    private let descriptors = DescriptorBudget(AgentProtocol.maximumDescriptors)
    private let timer: Int32
    private let signals: Int32

    /// - Parameter background: What is done with the vaults without a request.
    /// - Throws: ``AgentError/io(_:)``.
    package init(
        _ listening: ListeningSocket, _ timeOuts: TimeOuts, background: AgentSync? = nil
    ) throws(AgentError) {
        (self.listening, self.timeOuts) = (listening, timeOuts)
        let vaults = VaultTable(VaultTickets(listening.folder), background)
        self.vaults = vaults
        // This same program, in another process, asks a server. A client cannot name another program.
        let program = AgentProcess.ownProgram
        requesters = Requesters(program: program)
        sessions = SessionStore(
            SessionTickets(listening.folder),
            ask: { (question: consuming OnlineQuestion) in
                let signer = question.keyVault.map { OpenVaultSigner(vaults, $0) }
                // A locked key is told before the server is asked, and the session stays as it is.
                for identity in question.neededIdentities {
                    if let problem = signer?.problem(of: identity) { return .refused(.failed(problem)) }
                }
                do throws(AgentError) { return try OnlineClient(program: program).ask(question, signing: signer) } catch {
                    return .refused(.failed(.helper))
                }
            },
            clear: { login, event in
                let authenticator = Authenticator(stateFolder: login.state, deviceFolder: login.device)
                _ = try? authenticator.end(login.key, after: event)
            },
            leadOut: { (service, idToken: consuming SecretBytes) in
                BrowserLeadOut(OnlineClient(program: program)).start(service, idToken: idToken)
            })
        handouts = HandoutLog { login, handout, times in
            let authenticator = Authenticator(stateFolder: login.state, deviceFolder: login.device)
            // A log that cannot be written holds up no token: under this uid a program could cause that at will.
            try? authenticator.note(handout, times: times, of: login.key)
        }
        timer = om_boot_timer()
        // Before the first thread, so that every thread inherits the blocked signals.
        signals = om_signal_descriptor()
        guard timer >= 0, signals >= 0 else { throw .io(errno) }
    }

    /// Returns after SIGTERM, SIGINT, SIGHUP, a request to step down, or the loss of the socket. Then every vault is locked.
    package func run() {
        sessions.resume()
        expireDue()
        var waiting = [listening.descriptor, timer, signals, listening.removals].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        while true {
            guard poll(&waiting, nfds_t(waiting.count), -1) >= 0 || errno == EINTR else { break }
            if waiting[2].revents != 0, om_signal_next(signals) > 0 { break }
            if waiting[3].revents != 0, !listening.isReachable { break }
            if waiting[1].revents != 0 {
                expireDue()
                om_wipe_stack()
            }
            if waiting[0].revents != 0 { acceptAll() }
        }
        listening.end()
        vaults.endFlights()
        vaults.lock(nil, forgets: false)
        write(handouts.takeDue(all: true))
        // Running requests still get their answers, for at most 5 seconds.
        var waited = 0
        while clients.withLock({ $0.working }) > 0, waited < 5_000 {
            usleep(2_000)
            waited += 2
        }
    }

    // MARK: - The clock

    /// Expires what is due, and sets the timer for the next time.
    private func expireDue() {
        var expirations: UInt64 = 0
        _ = read(timer, &expirations, 8)
        write(handouts.takeDue())
        let next = (vaults.all.map { $0.expireDue() } + [sessions.expireDue(), handouts.nextDue]).compactMap(\.self).min()
        om_boot_timer_set(timer, next ?? 0)
    }

    /// Writes handouts on a thread of its own. At the agent's end it counts as a running request.
    private func write(_ due: [HandoutLog.Due]) {
        guard !due.isEmpty else { return }
        clients.withLock { $0.working += 1 }
        DetachedThread.startOrRunHere(stack: Self.stack) { [self] in
            handouts.write(due)
            clients.withLock { $0.working -= 1 }
        }
    }

    // MARK: - Connections

    private func acceptAll() {
        while true {
            let descriptor = om_socket_accept(listening.descriptor)
            guard descriptor >= 0 else {
                // There are no descriptors left. The queue waits until a connection ends.
                if errno == EMFILE || errno == ENFILE || errno == ENOMEM { usleep(10_000) }
                return
            }
            let channel = FrameChannel(descriptor)
            // Attack: another user reaches the socket through a descriptor that was passed on, or through an unsafe
            // folder. So the peer's user, as the kernel reports it, must be this user.
            guard channel.peer() == geteuid() else { continue }
            let isFull = clients.withLock { clients in
                guard clients.all < AgentProtocol.maximumClients else { return true }
                clients.all += 1
                return false
            }
            guard !isFull else {
                try? channel.send(.busy, SecretBuffer(), within: 0)
                continue
            }
            let connection = Connection(self, channel)
            if DetachedThread.start(stack: Self.stack, { connection.serve() }) != 0 { leave() }
        }
    }

    fileprivate func leave() { clients.withLock { $0.all -= 1 } }

    fileprivate func serve(_ channel: borrowing FrameChannel) {
        var start = AgentProtocol.frameTime
        while true {
            let goesOn: Bool
            do throws(ChannelError) { goesOn = try serveOne(channel, start) } catch {
                switch error {
                case .malformed: refuse(channel)
                // The client tries again.
                case .noDescriptors: try? channel.send(.busy, SecretBuffer(), within: AgentProtocol.frameTime)
                case .ended, .deadline: break
                }
                goesOn = false
            }
            // Wipes what this request's calls left on the stack.
            om_wipe_stack()
            guard goesOn else { return }
            start = AgentProtocol.restTime
        }
    }

    /// - Returns: Whether the connection continues.
    private func serveOne(_ channel: borrowing FrameChannel, _ start: Int) throws(ChannelError) -> Bool {
        guard
            let frame = try channel.receive(
                start: start, frame: AgentProtocol.frameTime, descriptors: descriptors)
        else { return false }
        clients.withLock { $0.working += 1 }
        defer { clients.withLock { $0.working -= 1 } }
        // They count until the request is over, also those that it has taken.
        let received = frame.descriptors
        defer { withExtendedLifetime(received) {} }
        if frame.kind == FrameKind.stepDown.rawValue, frame.body.count == 0 {
            try channel.send(.done, SecretBuffer(), within: AgentProtocol.frameTime)
            kill(getpid(), SIGTERM)
            return true
        }
        guard frame.version == AgentProtocol.version else {
            var body = SecretBuffer()
            body.write(AgentProtocol.version)
            try channel.send(.otherVersion, body, within: AgentProtocol.frameTime)
            return false
        }
        let request = try frame.body.withBytes { (bytes: Span<UInt8>) throws(ChannelError) in
            do throws(MalformedBytes) { return try AgentRequest.decode(frame.kind, bytes, frame.descriptors) } catch {
                throw .malformed
            }
        }
        let reply = answer(request, received, from: channel)
        var body = SecretBuffer(capacity: reply.expectedCount)
        let requester = reply.requester
        let kind = reply.encode(into: &body)
        guard body.count <= AgentProtocol.maximumAnswer else {
            var instead = SecretBuffer()
            instead.write(VaultError.tooLarge)
            try channel.send(.failure, instead, within: AgentProtocol.frameTime)
            return true
        }
        // No longer: an answer that the client does not fetch stays here, also after its vault was locked.
        try channel.send(kind, body, descriptors: requester.map { [$0.descriptor] } ?? [], within: AgentProtocol.frameTime)
        return true
    }

    private func refuse(_ channel: borrowing FrameChannel) {
        try? channel.send(.refused, SecretBuffer(), within: AgentProtocol.frameTime)
    }

    // MARK: - Requests

    /// - Parameter received: What came with the request.
    private func answer(
        _ request: consuming AgentRequest, _ received: ReceivedDescriptors?, from channel: borrowing FrameChannel
    ) -> AgentReply {
        switch consume request {
        case .stepDown: return .done
        case .status: return .status(status())
        case .unlock(let paths, let keys, let login, let idle, let hard):
            let (idle, hard) = (Self.bounded(idle, timeOuts.idle), Self.bounded(hard, timeOuts.hard))
            do throws(VaultError) {
                guard let status = try vaults.unlock(paths, keys, openedBy: login, idle: idle, hard: hard) else {
                    return .full
                }
                expireDue()
                return .unlocked(status)
            } catch {
                return .failure(error)
            }
        case .lock(let paths, let forgets):
            vaults.lock(paths, forgets: forgets)
            expireDue()
            return .done
        case .lockOpened(let login):
            vaults.lock(openedBy: login)
            expireDue()
            return .done
        case .perform(let paths, let request):
            // Attack: a client sends a file of a file system that it serves itself (FUSE), which never answers a read. The
            // thread would wait with the vault's lock in its hands, and no one could lock the vault. So a file is read only
            // if it lies where the vault lies, and the question itself asks no file system.
            guard received?.areAllOnFileSystem(of: paths.vault) != false else {
                return .failure(.storage(.io(EXDEV)))
            }
            guard let handle = vaults.handleOrResume(at: paths) else { return .locked(.locked) }
            let reply = handle.perform(request)
            if reply.leavesPurge { expireDue() }
            return reply
        case .rememberingKey(let paths, let level):
            guard let handle = vaults.handleOrResume(at: paths) else { return .locked(.locked) }
            return handle.rememberingKey(of: level)
        case .syncStatus(let paths, let needsFacts):
            guard let handle = vaults.handleOrResume(at: paths) else { return .locked(.locked) }
            return handle.sync(.none, needsFacts: needsFacts)
        case .syncNow(let paths, let remote):
            guard let handle = vaults.handleOrResume(at: paths) else { return .locked(.locked) }
            return handle.sync(remote.map { .one($0) } ?? .all, needsFacts: false)
        case .keepSession(let kept):
            // An ended session is removed first. Otherwise a login could continue it.
            expireDue()
            guard sessions.keep(kept) else { return .full }
            expireDue()
            return .done
        case .restoreSession(let kept, let since):
            expireDue()
            switch sessions.restore(kept, since: since) {
            case .done:
                expireDue()
                return .done
            case .full: return .full
            case .gone: return .noSession
            case .failed: return .sessionRefused(.failed(.unkeptTokens))
            }
        case .useSession(let login):
            expireDue()
            return sessions.use(login).map { .session($0) } ?? .noSession
        case .renewSession(let login, let newTokens):
            expireDue()
            return AgentReply(sessions.renew(login, newTokens: newTokens))
        case .token(let login, let question):
            expireDue()
            switch sessions.token(of: login, question) {
            case .given(let token, let left, let state):
                note(token.scopes, of: login, to: AskingProgram(channel))
                return .token(token, left: left, state)
            case .none: return .noSession
            case .refused(let refusal): return .tokenRefused(refusal)
            }
        case .knownToken(let question):
            expireDue()
            switch sessions.knownToken(question) {
            case .none: return .noSession
            case .some(let known):
                note(known.access.scopes, of: known.login, to: AskingProgram(channel))
                return .knownToken(known.access.value.duplicate())
            }
        case .profileReading(let login, let profile, let reading):
            sessions.note(reading, of: profile, login)
            return .done
        case .compareSession(let login):
            sessions.deleteOvertaken(login)
            return .done
        case .forgetToken(let login, let refused):
            sessions.forgetToken(of: login, refused: refused)
            return .done
        case .sign(let paths, let identity, let use):
            do throws(OnlineRefusal) {
                return .signed(try OpenVaultSigner(vaults, paths).sign(use, with: identity))
            } catch {
                return .notSigned(error.signingProblem)
            }
        case .sshKeys(let paths):
            guard let handle = vaults.handleOrResume(at: paths) else { return .locked(.locked) }
            return handle.sshKeys()
        case .signSSH(let paths, let signing):
            guard let handle = vaults.handleOrResume(at: paths) else { return .notSigned(.lockedClientKey) }
            return handle.sign(signing)
        case .request(let question):
            expireDue()
            return requesters.start(question, in: sessions) { OpenVaultSigner(vaults, $0) }
        case .claims(let login, let inquiry):
            expireDue()
            return AgentReply(sessions.claims(of: login, inquiry))
        case .endSession(let login, let waits, let inBrowser, let password):
            let (ending, address) = sessions.end(login, waits: waits, inBrowser: inBrowser, password: password)
            return .sessionEnded(ending, address: address)
        case .sessions:
            expireDue()
            return .sessions(sessions.list())
        }
    }

    /// Writes into the log of logins who gets a token, before the token leaves.
    private func note(_ scopes: ScopeSet, of login: LoginReference, to program: AskingProgram) {
        let handout = TokenHandout(
            user: program.user, process: program.process, program: program.file, scopes: scopes.names, of: login.key)
        if handouts.note(handout, of: login) { expireDue() }
    }

    private static func bounded(_ asked: UInt32, _ own: UInt32) -> Int64 {
        Int64(min(asked == 0 ? own : asked, TimeOuts.longest))
    }

    private func status() -> AgentStatus {
        AgentStatus(
            process: getpid(), memory: SecretMemory.protection.rawValue, idle: timeOuts.idle, hard: timeOuts.hard,
            vaults: vaults.all.map { $0.status() }.filter { $0.state != .locked }
                .sorted { $0.paths.vault < $1.paths.vault })
    }
}

/// Carries a connection to the thread that serves it.
private final class Connection: Sendable {
    private let server: AgentServer
    private let channel: FrameChannel

    init(_ server: AgentServer, _ channel: consuming FrameChannel) {
        self.server = server
        self.channel = channel
    }

    func serve() {
        server.serve(channel)
        server.leave()
    }
}
