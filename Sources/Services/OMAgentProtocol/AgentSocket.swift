internal import OMSystem

/// The socket of this user's agent.
public struct AgentSocket: Sendable {
    package let folder: RuntimeFolder
    package let name: String

    public var path: String { "\(folder.path)/\(name)" }

    /// The socket from the environment: `OMVAULT_AGENT_SOCK`, else `$XDG_RUNTIME_DIR/omvault/agent.sock`. Without either
    /// variable it is `/run/user/UID/omvault/agent.sock`, or `$XDG_STATE_HOME/omvault/run/agent.sock` if the system has no
    /// `/run/user/UID`.
    ///
    /// - Parameter makes: Whether to create the last folder if it is missing.
    /// - Throws: ``AgentError/noRuntimeFolder``, ``AgentError/noHome``, ``AgentError/unsafeFolder(_:path:)``,
    ///   ``AgentError/notRunning``.
    public init(_ variable: (String) -> String?, makes: Bool = false) throws(AgentError) {
        if let path = variable("OMVAULT_AGENT_SOCK") {
            self = try AgentSocket(path: path)
            return
        }
        try self.init(named: Self.usualName, variable, makes: makes)
    }

    /// The socket of this name in ``RuntimeFolder/ofUser(_:makes:sessions:)``.
    package init(named name: String, _ variable: (String) -> String?, makes: Bool) throws(AgentError) {
        self = AgentSocket(try RuntimeFolder.ofUser(variable, makes: makes), name)
    }

    /// The sockets of this user's agents: the one from the environment, and each other one in a folder that another environment
    /// of this user means (``RuntimeFolder/all(with:_:sessions:)``).
    ///
    /// Attack, or accident: a job of cron unlocks a vault, and later `omvault lock` of a login session does not find the vault
    /// in its own agent.
    package static func all(_ variable: (String) -> String?) -> [Result<AgentSocket, AgentError>] {
        var all = [Result { () throws(AgentError) in try AgentSocket(variable) }]
        for folder in RuntimeFolder.all(with: usualName, variable) {
            let other = folder.map { AgentSocket($0, usualName) }
            if case .success(let other) = other, all.contains(where: { (try? $0.get())?.isSame(as: other) == true }) { continue }
            all.append(other)
        }
        return all
    }

    private func isSame(as other: AgentSocket) -> Bool { name == other.name && folder.isSame(as: other.folder) }

    private static let usualName = "agent.sock"

    private init(_ folder: RuntimeFolder, _ name: String) { (self.folder, self.name) = (folder, name) }

    /// The socket at `path`, which must be absolute.
    public init(path: String) throws(AgentError) {
        guard FilePath.isAbsolute(path), !path.hasSuffix("/"), !path.utf8.contains(0) else { throw .noRuntimeFolder }
        folder = try RuntimeFolder(FilePath.folder(of: path))
        name = FilePath.name(of: path)
    }
}
