// What only Oracle's servers do.

internal import OMAuth
internal import OMShell

extension Failure {
    static let oracleWords = "this grant is of Oracle Access Manager servers only, and is not built in"

    /// For a profile with ``Profile/needsOracleServer``.
    init(needingOracle profile: Profile) {
        self.init(
            oracle: "profile \"\(profile.name.text)\": \(Self.oracleWords)",
            hint: "the grants of other servers are in docs/reference/profiles.md")
    }

    /// - Parameter message: What only an Oracle server could answer.
    init(oracle message: String, hint: String) {
        self.init(.unsupported, message, hint: hint, details: ["reason": .text("oam_server_needed")])
    }
}
