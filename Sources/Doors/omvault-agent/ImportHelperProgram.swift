// The door of the process that reads a file for an import: `omvault-agent --import`. OMAgent does the rest.

internal import Glibc
internal import OMAgent
internal import OMInterchange
internal import OMItems
internal import OMSecrets
internal import OMShell

enum ImportHelperProgram {
    static func run() -> Never {
        guard AgentProcess.harden(hidesMemory: false) else {
            fatalError("omvault-agent: error: this system refuses to protect the process")
        }
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        ImportHelper.run(variables: variables)
    }

    /// A file of variables is one entry, with a field for each variable.
    private static func variables(_ bytes: borrowing SecretBytes) throws(InterchangeError) -> ForeignEntry {
        var entry = ForeignEntry(title: "")
        do {
            let file = try EnvironmentFile(bytes)
            try file.forEach { name, value in
                entry.fields.append(ForeignField(name, .other, isConcealed: true, value.duplicate()))
            }
            entry.losses = file.repeatedNames.map { .member("an earlier value of \($0)") }
        } catch let failure as Failure {
            // Its words have a line and no value.
            throw .damaged(failure.message)
        } catch { throw .damaged("a line") }
        return entry
    }
}
