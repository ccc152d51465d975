internal import ArgumentParser

/// Whether to fetch the server's policy when a profile is set up.
struct PolicyOptions: ParsableArguments {
    @Flag(help: ArgumentHelp("Do not ask ProfileURL now. Until it has answered once, no login is cached."))
    var noFetch = false
}
