package enum VersionAnswer {
    package static let version = "0.1.0"

    /// The complete answer if only the version is asked for. Nil for all other arguments.
    package static func answer(to arguments: [String]) -> String? {
        switch arguments {
        case ["--version"]: "omvault \(version)\n"
        case ["--version", "--json"], ["--json", "--version"]:
            #"{"schema":"omvault/1","version":"\#(version)"}"# + "\n"
        default: nil
        }
    }
}
