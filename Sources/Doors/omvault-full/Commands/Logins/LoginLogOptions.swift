internal import ArgumentParser
internal import OMShell

/// `--logins`, and `--system` for the system store.
struct LoginLogOptions: ParsableArguments {
    @Flag(help: "The log of logins, instead of a vault's.")
    var logins = false

    @Flag(help: systemStoreHelp)
    var system = false

    mutating func validate() throws {
        guard logins || !system else { throw ValidationError("--system goes with --logins") }
    }

    /// Nil if the command is about a vault's log.
    func access(_ context: CommandContext) throws(Failure) -> LoginLogAccess? {
        logins ? try LoginLogAccess(context, system: system) : nil
    }
}
