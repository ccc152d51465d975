internal import ArgumentParser

/// Whether a profile's server is asked for its policy as the profile is set up.
struct PolicyOptions: ParsableArguments {
    @Flag(help: ArgumentHelp("Do not ask ProfileURL now. Until it has answered once, no login is cached."))
    var noFetch = false
}
