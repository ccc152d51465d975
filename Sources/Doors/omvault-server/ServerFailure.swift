#if Server
// The errors of `omvault-server`, with the exit codes of `omvault`.

internal import Glibc
internal import OMServer
internal import OMServerStore
internal import OMSystem

/// An error in words: what happened, and what to do next.
struct ServerFailure: Error {
    /// The numbers are those of docs/reference/exit-codes.md.
    enum Status: Int32 {
        case general = 1, usage = 2, aborted = 3, unsupported = 4, exists = 5, inputRequired = 8, config = 9, notFound = 10,
            busy = 16,
            corrupt = 30
        case doctorFindings = 42, network = 50, io = 60
    }

    let status: Status
    let message: String
    let hint: String

    init(_ status: Status, _ message: String, hint: String) {
        (self.status, self.message, self.hint) = (status, message, hint)
    }

    /// Prints the error and ends the process.
    func end() -> Never {
        ServerText.error("omvault-server: error: \(message)\nomvault-server: hint: \(hint)\n")
        exit(status.rawValue)
    }

    init(_ error: any Error) {
        switch error {
        case let failure as ServerFailure: self = failure
        case let error as StoreError: self.init(error)
        case let problem as ServerProblem:
            self.init(.busy, "the server refused: \(problem.name.rawValue)", hint: "try again in a moment")
        default: self.init(.general, "unexpected error: \(type(of: error))", hint: "omvault-server doctor")
        }
    }

    private init(_ error: StoreError) {
        switch error {
        case .busy: self.init(.busy, "the store is busy; nothing was changed", hint: "try again in a moment")
        case .unreachable:
            self.init(.network, "the database cannot be reached, or the connection ended", hint: "is PostgreSQL running?")
        case .missing: self.init(.config, "there is no store yet", hint: "omvault-server init")
        case .exists: self.init(.exists, "there is a store already", hint: "omvault-server doctor shows its state")
        case .damaged: self.init(.corrupt, "the store is damaged", hint: "restore a backup: omvault-server restore")
        case .otherVersion(let version):
            self.init(
                .unsupported,
                "the store has tables of version \(version), this server uses version \(ServerTables.schema.version)",
                hint: "omvault-server migrate, or a newer omvault-server")
        case .refused(let state):
            self.init(.general, "the database refused a statement (\(state))", hint: "see the log of the database")
        case .io(let code):
            self.init(
                .io, "cannot read or write the store: \(String(cString: strerror(code)))",
                hint: "check the disk and the folder")
        }
    }

    init(_ error: StorageError, _ path: String) {
        switch error {
        case .missing: self.init(.config, "\"\(path)\" is not there", hint: "omvault-server init --data FOLDER")
        case .exists: self.init(.exists, "\"\(path)\" is there already", hint: "choose another folder")
        case .hazardous(_, let path):
            self.init(.config, "another user can change \"\(path)\"", hint: "chmod go-rwx \"\(path)\"")
        default: self.init(.io, "cannot use \"\(path)\": \(String(cString: strerror(error.code)))", hint: "check the folder")
        }
    }
}
#endif
