internal import ArgumentParser

/// `-0`, for rows that other programs read.
struct NulOption: ParsableArguments {
    @Flag(name: .customShort("0"), help: "The same as --format nul: each row ends with a NUL byte.")
    var isGiven = false

    /// The format that the line asks for.
    func format(_ global: GlobalOptions) -> FormatName? { isGiven ? .nul : global.formatAsked }

    func refuseOther(_ global: GlobalOptions) throws {
        guard isGiven, let other = global.formatAsked, other != .nul else { return }
        throw ValidationError("-0 and --format \(other.rawValue) contradict each other")
    }
}
