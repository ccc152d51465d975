// What logins without a password refuse.

internal import OMAuth
internal import OMShell

extension Failure {
    /// - Parameter how: How users log in: "with …" or "at …".
    init(uncachedLogin how: String) {
        self.init(
            .noOffline, "a login \(how) is never cached, so there is none offline",
            hint: "log in when the server can be reached")
    }

    /// - Parameter how: How users log in: "with …" or "at …".
    init(option: String, ofPasswordsUnder profile: Profile, _ how: String) {
        self.init(
            .usage, "\(option) is for logins with a password, and users of this profile log in \(how)",
            hint: "omvault login --profile \(profile.name.text.asShellWord)")
    }
}
