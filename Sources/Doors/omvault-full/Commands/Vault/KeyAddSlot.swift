internal import ArgumentParser
internal import OMAuth
internal import OMItems
internal import OMShell
internal import OMSync
internal import OMSyncKeys
internal import OMSystem
internal import OMVault

/// `omvault key add-slot`
struct KeyAddSlot: Verb {
    static let configuration = CommandConfiguration(
        commandName: "add-slot",
        abstract: "Add a way to open the vault.",
        discussion: """
            '--type password' adds a password; a vault has at most 8 of them. A password that you type is tried at all password
            slots, and each makes an unlock slower, unless --keyslot names one.

            '--type recovery' prints a new code, once; at a terminal you type it back. In a vault that syncs it opens the remotes from
            then on, and the code before does not. If this device has a shared recovery slot, the new code takes its place.

            '--type shared-recovery' takes the recovery code that another device of the vault made, and that opens the remotes now. A
            device that joins gets such a slot by itself. After a change of the code, each device takes the new one only here.

            '--type file' makes a key file (--out), or uses an existing one (--key-from).

            '--type login' checks the login of USER and adds a slot that this login opens. A login can be wiped, so the vault needs
            a password or recovery slot too.

              omvault key add-slot --type recovery
              omvault key add-slot --type file --out /media/stick/personal.key
              omvault key add-slot --type login ada --profile work
            """)

    enum Kind: String, CaseIterable, ExpressibleByArgument {
        case password, recovery, file, login
        case sharedRecovery = "shared-recovery"
    }

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Option(help: ArgumentHelp("What opens the slot.", valueName: "type"))
    var type: Kind

    @Argument(help: "The login's user, for --type login.")
    var user: String?

    @Option(help: profileHelp, completion: .profiles)
    var profile: String?

    @Option(help: ArgumentHelp("The login's identity domain; the profile's if not given.", valueName: "domain"))
    var domain: String?

    @Option(help: ArgumentHelp("Where the new password comes from.", valueName: "source"))
    var newPasswordFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("Where the recovery code that you type, or type back, comes from.", valueName: "source"))
    var codeFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("Make the key file here.", valueName: "file"), completion: .file())
    var out: String?

    @Option(help: ArgumentHelp("Take the key file from here.", valueName: "source"))
    var keyFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("Where the login's password comes from.", valueName: "source"))
    var loginPasswordFrom: SecretSourceArgument?

    func validate() throws {
        let given: [(Kind, [String])] = [
            (.password, newPasswordFrom == nil ? [] : ["--new-password-from"]),
            (type == .sharedRecovery ? .sharedRecovery : .recovery, codeFrom == nil ? [] : ["--code-from"]),
            (.file, (out == nil ? [] : ["--out"]) + (keyFrom == nil ? [] : ["--key-from"])),
            (
                .login,
                (user == nil ? [] : ["USER"]) + (profile == nil ? [] : ["--profile"])
                    + (domain == nil ? [] : ["--domain"])
                    + (loginPasswordFrom == nil ? [] : ["--login-password-from"])
            ),
        ]
        for (kind, options) in given where kind != type {
            if let option = options.first { throw ValidationError("\(option) is for --type \(kind.rawValue)") }
        }
        if type == .file, (out == nil) == (keyFrom == nil) {
            throw ValidationError("--type file needs --out FILE to make a key file, or --key-from SOURCE to use one")
        }
        if type == .login, user == nil { throw ValidationError("--type login needs the user's name") }
    }

    func run(_ context: CommandContext) throws {
        let access = try VaultAccess(context)
        let own: [(key: String, value: SecretSourceArgument?)] =
            switch type {
            case .password: [("--new-password-from", newPasswordFrom)]
            case .recovery, .sharedRecovery: [("--code-from", codeFrom)]
            case .file: [("--key-from", keyFrom)]
            case .login: [("--login-password-from", loginPasswordFrom)]
            }
        let secrets = try SecretSources(context, unlock.sources + own)
        // Checked before the user types a password.
        let user = try user.map { try UserName($0) }
        let unlocked = try access.openSlot(secrets, unlock)
        let (slots, policy) = try access.run { () throws(VaultError) in try unlocked.vault.settings() }
        switch type {
        case .password:
            try access.run { () throws(VaultError) in try Vault.checkRoom(for: .password, among: slots) }
            let password = try secrets.readNewPassword(
                "--new-password-from", prompt: "New password for vault \"\(access.location.name)\"")
            try add(.password(password), to: unlocked.vault, policy: policy, access: access)
        case .recovery: try addCode(to: unlocked.vault, policy: policy, secrets: secrets, access: access)
        case .sharedRecovery: try SharedRecovery(of: access).add(to: unlocked.vault, secrets)
        case .file: try addFile(to: unlocked.vault, policy: policy, secrets: secrets, access: access)
        case .login:
            let logins = try LoginAccess(context)
            let name = try logins.profileName(profile)
            let login = try logins.check(
                user ?? UserName(""), under: name,
                domain: LoginAccess.identityDomain(domain, try logins.profiles.profile(name)), secrets,
                option: "--login-password-from", context)
            try add(.login(login), to: unlocked.vault, policy: policy, access: access)
        }
    }

    private func addCode(
        to vault: borrowing Vault, policy: VaultPolicy, secrets: borrowing SecretSources, access: VaultAccess
    ) throws(Failure) {
        let code = RecoveryCode.random()
        let format = access.context.output.format
        if format != .json { try RecoveryCodeSheet.print(code.text(), access.context) }
        if RecoveryCodeSheet.isTypedBack(wasGiven: codeFrom != nil, access.context) {
            try RecoveryCodeSheet.confirm(code, secrets, access.context)
        }
        let shared = SharedRecovery(of: access)
        if let old = try shared.slot(of: vault) {
            // Shown before the old code stops working. If that fails, nothing is changed.
            if format == .json { try Self.write(code, of: .sharedRecovery, slot: old.id, access) }
            // Without its place in the roll, no slot takes it.
            try addToRoll(code, of: vault, access)
            let slot = try shared.take(RecoveryMember(code.secret, vault: vault.id), in: vault)
            try noticeIfUntried(slot, vault, access)
            return access.context.output.notice("changed slot \(slot.id) (recovery code)")
        }
        let slot = try access.run { () throws(VaultError) in try vault.addSlot(try NewSlot(recovery: code, policy.stretch)) }
        try noticeIfUntried(slot, vault, access)
        if format == .json {
            do throws(Failure) { try Self.write(code, of: slot.kind, slot: slot.id, access) } catch {
                throw RecoveryCodeSheet.lost(
                    error, hint: "remove its slot with omvault key rm-slot \(slot.id), then add another")
            }
        } else {
            access.context.output.notice("added slot \(slot.id) (recovery code)")
        }
        try addToRoll(code, of: vault, access)
    }

    private static func write(
        _ code: borrowing RecoveryCode, of kind: KeySlot.Kind, slot: UInt32, _ access: VaultAccess
    ) throws(Failure) {
        var document = JSONDocument()
        document.field("result", .text("added"))
        document.field("slot", .number(Int(slot)))
        document.field("type", .text(kind.name))
        document.secret("recovery_code", code.text())
        try access.context.output.document(document)
    }

    /// Makes the code that of the remotes too. It is shown already: if this fails, it opens this vault all the same.
    private func addToRoll(
        _ code: borrowing RecoveryCode, of vault: borrowing Vault, _ access: VaultAccess
    ) throws(Failure) {
        let recovery = RecoveryMember(code.secret, vault: vault.id)
        let syncs = try access.run { () throws(VaultError) in
            guard try vault.syncStatus() != nil else { return false }
            try vault.setRecovery(recovery, now: secondsNow())
            return true
        }
        guard syncs else { return }
        access.context.output.notice("this code opens the remotes after the next exchange: omvault sync now")
    }

    private func addFile(
        to vault: borrowing Vault, policy: VaultPolicy, secrets: borrowing SecretSources, access: VaultAccess
    ) throws(Failure) {
        guard let out else {
            let text = try secrets.read("--key-from", prompt: "Text of the key file")
            return try add(.keyFile(try access.keyFile(text)), to: vault, policy: policy, access: access)
        }
        // The file is written before the slot: a slot without its file would be useless.
        var target = try OutputFile(out, replacing: false, existsHint: "name a new file")
        let file = VaultKeyFile.random()
        try target.write(file.text())
        // Attack, or accident: a power cut leaves the slot and an empty file. So the file is on the disk before the slot.
        try target.finish(survivesPowerCut: true)
        let made = FileNumber(out)
        let before = try access.run { () throws(VaultError) in try vault.settings() }.slots
        do throws(Failure) {
            try add(.keyFile(file), to: vault, policy: policy, access: access)
        } catch {
            // The error may have come after the slot was added. Then its file must stay.
            let after = (try? vault.settings())?.slots
            let isThere = after?.contains { slot in slot.kind == .keyFile && !before.contains(slot) } ?? true
            if !isThere, FileNumber(out) == made { OutputFile.remove(out) }
            throw error
        }
    }

    private func add(
        _ secret: consuming SlotSecret, to vault: borrowing Vault, policy: VaultPolicy, access: VaultAccess
    ) throws(Failure) {
        let new = try access.run { () throws(VaultError) in try secret.newSlot(policy.stretch) }
        let slot = try access.run { () throws(VaultError) in try vault.addSlot(new) }
        try access.context.output.done(
            "slot \(slot.id) now opens vault \"\(access.location.name.shown)\" with a \(slot.kind.noun)",
            ["result": .text("added"), "slot": .number(Int(slot.id)), "type": .text(slot.kind.name)])
        try noticeIfUntried(slot, vault, access)
    }

    private func noticeIfUntried(_ slot: KeySlot, _ vault: borrowing Vault, _ access: VaultAccess) throws(Failure) {
        let slots = try access.run { () throws(VaultError) in try vault.settings() }.slots
        guard !KeySlot.tried(slot.kind, of: slots).contains(slot), slot.kind != .login else { return }
        access.context.output.notice(
            "slot \(slot.id) is not tried without --keyslot \(slot.id), because the slots before it take too long")
    }
}
