internal import ArgumentParser

/// Whose access token a helper gives.
struct HelperOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The profile.", valueName: "name"), completion: .profiles)
    var profile: String

    @OptionGroup var session: SessionUserOptions
}
