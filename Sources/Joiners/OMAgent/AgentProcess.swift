// The agent's process: hardening it so that it can hold keys for hours, and starting one.

internal import COMSystem
internal import Glibc
public import OMAgentProtocol
internal import OMSecrets
internal import OMSystem

/// The agent's process.
public enum AgentProcess {
    package static let programName = AgentFile.name
    package static let environment = AgentFile.environment

    /// The path of the running program. Empty if the system does not give it.
    package static var ownProgram: String {
        FilePath.resolved("/proc/self/exe") ?? ""
    }

    /// Hardens this process. Call it first.
    ///
    /// - Parameter hidesMemory: If false, secrets stay in memory that root can read; a test looks for them there.
    /// - Returns: false if the system refuses.
    package static func harden(hidesMemory: Bool) -> Bool {
        umask(0o077)
        guard om_harden_process() == 0, om_no_new_privileges() == 0 else { return false }
        if hidesMemory { SecretMemory.hide() }
        raiseLimits()
        return true
    }

    /// How many bytes of locked memory the record caches can use: half of what the system allows, and 64 MiB at most.
    package static func recordBytes() -> Int {
        let most = 64 << 20
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limit) == 0 else { return 0 }
        return limit.rlim_cur > UInt(2 * most) ? most : Int(limit.rlim_cur) / 2
    }

    /// Each open vault takes three descriptors, and the usual limit of 1,024 leaves none for the clients of the last
    /// vaults. The limit of locked memory is raised as far as the system allows.
    private static func raiseLimits() {
        for (resource, most) in [(RLIMIT_NOFILE, 4096), (__RLIMIT_MEMLOCK, rlim_t.max)] {
            let resource = __rlimit_resource_t(resource.rawValue)
            var limit = rlimit()
            guard getrlimit(resource, &limit) == 0 else { continue }
            limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, most))
            _ = setrlimit(resource, &limit)
        }
    }

    /// Starts the agent's program in its own session, and returns when it listens. If several processes call this at
    /// the same time, one of them starts it.
    ///
    /// - Parameters:
    ///   - program: An absolute path. Only this user and root may be able to change the program, or its folder.
    ///   - idle: Seconds without use until a vault locks, from 1 to 30 days. Nil: 10 minutes.
    ///   - hard: Seconds until a vault locks even in use, from 1 to 30 days. Nil: 12 hours.
    /// - Returns: Whether this call started it.
    /// - Throws: ``AgentError/programMissing(_:)``, ``AgentError/unsafeProgram(_:)``, ``AgentError/cannotStart(_:)``.
    public static func start(
        _ program: String, at socket: AgentSocket, idle: UInt32? = nil, hard: UInt32? = nil
    ) throws(AgentError) -> Bool {
        try start(
            program, at: socket, options: (idle.map { ["--idle", "\($0)"] } ?? []) + (hard.map { ["--hard", "\($0)"] } ?? []))
    }

    /// The same with the program's own options.
    package static func start(
        _ program: String, at socket: AgentSocket, options: [String]
    ) throws(AgentError) -> Bool {
        let program = try check(program)
        let lock = open(socket.folder.descriptorPath("\(socket.name).start"), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw .io(errno) }
        defer { close(lock) }
        // The process that gets the lock starts the agent. The others find it running.
        var waited = 0
        while flock(lock, LOCK_EX | LOCK_NB) != 0 {
            guard waited < 15_000 else { throw .deadline }
            usleep(5_000)
            waited += 5
        }
        do throws(AgentError) {
            _ = try AgentClient(socket).status()
            return false
        } catch {
            guard error == .notRunning else { throw error }
        }
        try spawn(program, ["--socket", socket.path, "--ready"] + options)
        return true
    }

    private static func spawn(_ program: String, _ options: [String]) throws(AgentError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .io(errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        let child = spawnDetached(program, options, ends[1])
        let failure = errno
        close(ends[1])
        guard child > 0 else { throw .io(failure) }
        // The child continues as another process and ends. Without this wait it would stay as a zombie.
        _ = om_wait(child)
        try awaitReady(ends[0])
    }

    private static func awaitReady(_ descriptor: Int32) throws(AgentError) {
        let words = readWords(descriptor)
        guard words == ready else {
            throw .cannotStart(words.isEmpty ? "it ended without a word" : words)
        }
    }

    /// Starts this program again in a session of its own, with the variables of this process and a pipe as descriptor 3. Returns
    /// when the new process has reported that it listens.
    ///
    /// - Returns: The id of the new process, which nothing in this process waits for.
    package static func startInBackground(_ options: [String]) throws(AgentError) -> Int32 {
        var ends: [Int32] = [-1, -1]
        guard om_pipe(&ends) == 0 else { throw .io(errno) }
        defer { close(ends[0]) }
        let child = AgentFile.spawnInBackground(ownProgram, options, ends[1])
        let failure = errno
        close(ends[1])
        guard child > 0 else { throw .io(failure) }
        try awaitReady(ends[0])
        return child
    }

    /// Starts the program in its own session, with `descriptor` as descriptor 3. Returns its id, or -1 with `errno`.
    static func spawnDetached(_ program: String, _ options: [String], _ descriptor: Int32) -> pid_t {
        AgentFile.spawnDetached(program, options, descriptor)
    }

    static let ready = "ready"

    /// Continues in a new process, so that the process that started this one need not wait.
    package static func leaveParent() {
        guard om_leave_parent() != 0 else { return }
        report("this system starts no process")
        exit(61)
    }

    /// Reports to the process that started this one: it listens, or why it does not. It writes to descriptor 3, once.
    package static func report(_ failure: String?) {
        let words = Array((failure ?? ready).utf8)
        _ = words.withUnsafeBytes { write(3, $0.baseAddress, $0.count) }
        close(3)
    }

    private static func readWords(_ descriptor: Int32) -> String {
        var words: [UInt8] = []
        let end = bootMilliseconds() + 15_000
        while words.count < 4096 {
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, Int32(clamping: max(0, end - bootMilliseconds()))) != 0 else { return "it did not answer" }
            var piece = [UInt8](repeating: 0, count: 512)
            let got = read(descriptor, &piece, piece.count)
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { break }
            words += piece.prefix(got)
        }
        return String(decoding: words, as: UTF8.self)
    }

    /// - Throws: ``AgentError/programMissing(_:)``, ``AgentError/unsafeProgram(_:)``.
    @discardableResult
    package static func check(_ program: String) throws(AgentError) -> String { try AgentFile.check(program) }
}
