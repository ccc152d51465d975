internal import ArgumentParser

/// `--logins`, and whose.
struct LoginLogOptions: ParsableArguments {
    @Flag(help: "The log of logins, instead of a vault's.")
    var logins = false

    @Flag(help: systemStoreHelp)
    var system = false

    mutating func validate() throws {
        guard logins || !system else { throw ValidationError("--system goes with --logins") }
    }

    /// nil: a vault's log is meant.
    func access(_ context: CommandContext) throws(Failure) -> LoginLogAccess? {
        logins ? try LoginLogAccess(context, system: system) : nil
    }
}
