internal import ArgumentParser
internal import OMAuth

/// The options that name a login.
struct LoginOptions: ParsableArguments {
    @Argument(help: "The user's name.")
    var user: String

    @Option(help: profileHelp, completion: .profiles)
    var profile: String?

    @Option(help: ArgumentHelp("The identity domain; the profile's, if not given.", valueName: "domain"))
    var domain: String?

    @Flag(help: systemStoreHelp)
    var system = false

    /// The given domain, else the profile's domain.
    func identityDomain(_ profile: Profile) throws -> IdentityDomain {
        try LoginAccess.identityDomain(domain, profile)
    }
}

/// The help for the rule of ``LoginAccess/profileName(_:)``.
let profileHelp = ArgumentHelp(
    "The profile. Without this option: the only profile, or of several the profile named \(ConfigurationURL.defaultName).",
    valueName: "name")

let systemStoreHelp: ArgumentHelp =
    "The store that PAM asks, in /var/lib/omvault and /etc/omvault: root only, and no variable is read."
