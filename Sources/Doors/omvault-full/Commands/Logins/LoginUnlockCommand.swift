internal import ArgumentParser
internal import OMAuth
internal import OMShell

/// `omvault login unlock`: ends a lock-out in the system store, for root.
struct LoginUnlockCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "unlock",
        abstract: "Let a locked login try again; for root, in the system store.",
        discussion: """
            Sets the count of wrong passwords to zero. The credential and its password stay. A wiped credential cannot be brought
            back (24).

              omvault login unlock ada --system --profile work
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var login: LoginOptions

    func run(_ context: CommandContext) throws {
        // Attack: a person who guesses passwords, perhaps in a stolen session, resets the counter of the user's own store.
        guard login.system else {
            throw Failure(
                .policy, "only root can unlock a login, and only in the system store",
                hint: "as root, add --system; in your own store, log in online, or use omvault login rm and omvault login enroll")
        }
        let access = try LoginAccess(context, system: true)
        let user = try UserName(login.user)
        let profile = try access.profiles.profile(access.profileName(login.profile))
        let authenticator = access.authenticator(), domain = try login.identityDomain(profile)
        let policy = try authenticator.policy(of: user, profile, domain: domain)
        let counted = try authenticator.unlock(user, profile, domain: domain)
        let told = "\(user.text.shown) under profile \"\(profile.name.text)\""
        try context.output.done(
            counted == 0
                ? "no wrong passwords were counted for \(told)" : "unlocked \(told): \(policy.limitWords)\(policy.limitSource)",
            [
                "result": .text("unlocked"), "user": .text(user.text), "profile": .text(profile.name.text),
                "attempts": .number(counted),
            ])
    }
}
