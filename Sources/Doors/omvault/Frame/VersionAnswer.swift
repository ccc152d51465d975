enum VersionAnswer {
    /// The complete answer if only the version is asked for. Nil for all other arguments.
    static func answer(to arguments: [String]) -> String? {
        switch arguments {
        case ["--version"]: "omvault \(Omvault.version)\n"
        case ["--version", "--json"], ["--json", "--version"]:
            #"{"schema":"omvault/1","version":"\#(Omvault.version)"}"# + "\n"
        default: nil
        }
    }
}
