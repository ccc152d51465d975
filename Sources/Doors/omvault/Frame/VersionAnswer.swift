enum VersionAnswer {
    /// The whole answer when nothing but the version is asked for; nil sends the arguments on their usual way.
    static func answer(to arguments: [String]) -> String? {
        switch arguments {
        case ["--version"]: "omvault \(Omvault.version)\n"
        case ["--version", "--json"], ["--json", "--version"]:
            #"{"schema":"omvault/1","version":"\#(Omvault.version)"}"# + "\n"
        default: nil
        }
    }
}
