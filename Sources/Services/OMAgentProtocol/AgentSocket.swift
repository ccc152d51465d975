internal import OMSystem

/// The socket of this user's agent.
public struct AgentSocket: Sendable {
    package let folder: RuntimeFolder
    package let name: String

    public var path: String { "\(folder.path)/\(name)" }

    /// The socket from the environment: `OMVAULT_AGENT_SOCK`, else `$XDG_RUNTIME_DIR/omvault/agent.sock`.
    ///
    /// - Parameter makes: Whether to create the last folder if it is missing.
    /// - Throws: ``AgentError/noRuntimeFolder``, ``AgentError/unsafeFolder(_:path:)``, ``AgentError/notRunning``.
    public init(_ variable: (String) -> String?, makes: Bool = false) throws(AgentError) {
        if let path = variable("OMVAULT_AGENT_SOCK") {
            self = try AgentSocket(path: path)
            return
        }
        try self.init(named: "agent.sock", variable, makes: makes)
    }

    /// The socket of this name in `$XDG_RUNTIME_DIR/omvault`.
    package init(named name: String, _ variable: (String) -> String?, makes: Bool) throws(AgentError) {
        guard let runtime = variable("XDG_RUNTIME_DIR"), FilePath.isAbsolute(runtime) else { throw .noRuntimeFolder }
        do throws(AgentError) { _ = try RuntimeFolder(runtime) } catch {
            throw error == .notRunning ? .noRuntimeFolder : error
        }
        let path = "\(runtime)/omvault"
        self = AgentSocket(makes ? try RuntimeFolder.make(path) : try RuntimeFolder(path), name)
    }

    private init(_ folder: RuntimeFolder, _ name: String) { (self.folder, self.name) = (folder, name) }

    /// The socket at `path`, which must be absolute.
    public init(path: String) throws(AgentError) {
        guard FilePath.isAbsolute(path), !path.hasSuffix("/"), !path.utf8.contains(0) else { throw .noRuntimeFolder }
        folder = try RuntimeFolder(FilePath.folder(of: path))
        name = FilePath.name(of: path)
    }
}
