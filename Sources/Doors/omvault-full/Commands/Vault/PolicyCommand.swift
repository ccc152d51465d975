internal import ArgumentParser
internal import OMItems
internal import OMRecords
internal import OMSecrets
internal import OMShell
internal import OMVault

/// `omvault policy`: the rules of a vault.
struct PolicyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy",
        abstract: "Show and change a vault's rules; explain an item.",
        subcommands: [PolicyShow.self, PolicySet.self, PolicyExplain.self])
}

/// `omvault policy show`
struct PolicyShow: Verb {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the vault's rules, or an item's level.",
        discussion: """
            Needs no password if this device has noted the policy before.

              omvault policy show
              omvault policy show github
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(help: "The item.", completion: .items)
    var item: String?

    var printsRows: Bool { true }

    func run(_ context: CommandContext) throws {
        let access = try VaultAccess(context)
        let secrets = try SecretSources(context, unlock.sources)
        guard let item else { return try print(try access.policy(secrets, unlock), context) }
        let name = try ItemReference.wholeName(item)
        let found = try access.read(.item(name), secrets, unlock).item()
        guard context.output.format == .json else {
            return try context.output.rows([["level", found.level.spoken]], header: ["RULE", "VALUE"])
        }
        var document = JSONDocument()
        document.field("item", .text(found.name.text))
        document.field("level", .text(found.level.name))
        document.field("device_only", .flag(found.level.isDeviceOnly))
        try context.output.document(document)
    }

    private func print(_ policy: VaultPolicy, _ context: CommandContext) throws(Failure) {
        guard context.output.format == .json else {
            return try context.output.rows(
                [
                    ["default", policy.defaultLevel.spoken],
                    ["afu-ticket", policy.keepsTicket ? "on" : "off"],
                    ["history", "\(policy.history)"],
                    ["stretch", policy.stretch.words(context.output.format)],
                ], header: ["RULE", "VALUE"])
        }
        var document = JSONDocument()
        document.field("default_level", .text(policy.defaultLevel.name))
        document.field("default_device_only", .flag(policy.defaultLevel.isDeviceOnly))
        document.field("afu_ticket", .flag(policy.keepsTicket))
        document.field("history", .number(Int(policy.history)))
        document.field("kdf_mem", .number(Int(policy.stretch.memoryKiB >> 10)))
        document.field("kdf_time", .number(Int(policy.stretch.passes)))
        try context.output.document(document)
    }
}

/// `omvault policy set`
struct PolicySet: Verb {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Change the vault's rules.",
        discussion: """
            '--default --level LEVEL [--device-only]': the level of new items.

            'ITEM --level LEVEL [--device-only]': the level of that item, as 'omvault set ITEM --level' does.

            'afu-ticket on|off': with "on" the agent keeps the keys of after-first-unlock when it restarts, so those items stay
            readable until the next boot. The cost: ANY process of yours can then read every after-first-unlock item until the
            next boot, also after the agent was stopped. With "off", the default, only a running agent has those keys.

            'history N': how many older versions of an item are kept, 0 to 1000; 10 in a new vault. If you lower it, the versions
            beyond N are purged at once, in every item and in the trash.

            'stretch --kdf-mem MIB --kdf-time N': how long a guess at a password takes. A slot below it follows with its next
            unlock.

              omvault policy set --default --level when-unlocked --device-only
              omvault policy set history 50
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions
    @OptionGroup var level: LevelOptions

    @Argument(help: "afu-ticket, history or stretch. With --level: the item.")
    var rule: String?

    @Argument(help: "The rule's new value.")
    var value: String?

    @Flag(name: .customLong("default"), help: "Set the default level.")
    var isDefault = false

    @Option(help: ArgumentHelp("stretch: memory for each guess at a password, in MiB: 8 to 1024.", valueName: "mib"))
    var kdfMem: UInt32?

    @Option(help: ArgumentHelp("stretch: passes over that memory, 1 to 16.", valueName: "n"))
    var kdfTime: UInt32?

    func validate() throws {
        guard isDefault != (rule != nil) else {
            throw ValidationError("name one rule: --default, afu-ticket, history or stretch; or an item with --level")
        }
        guard value == nil || !isForItem else { throw ValidationError("--level and --device-only take no value") }
        guard rule == "stretch" || kdfMem == nil && kdfTime == nil else {
            throw ValidationError("--kdf-mem and --kdf-time are for stretch")
        }
    }

    /// Whether the rule is an item's level, whatever name the item has. Only items and `--default` take a level.
    private var isForItem: Bool { !isDefault && (level.level != nil || level.deviceOnly) }

    func run(_ context: CommandContext) throws {
        let access = try VaultAccess(context)
        let secrets = try SecretSources(context, unlock.sources)
        if isForItem {
            let name = try ItemReference.wholeName(rule ?? "")
            try access.unlock(secrets, unlock)
            return try SetCommand.setLevel(name, level, ifRevision: nil, access)
        }
        let change = try change()
        let vault = try access.open(secrets, unlock)
        let purge = try access.run { () throws(VaultError) in
            try vault.changePolicy { policy throws(VaultError) in try change(&policy) }
        }.purge
        if rule == "afu-ticket", value == "off" { access.deleteTicket() }
        let name = rule ?? "default"
        try context.output.done(
            "changed the rule \(name) of vault \"\(access.location.name.shown)\"",
            ["result": .text("changed"), "rule": .text(name), "purged": .flag(purge != .pending)])
        context.output.purged(purge)
    }

    private typealias Change = (inout VaultPolicy) throws(VaultError) -> Void

    /// Parsed before the user types a password.
    private func change() throws -> Change {
        switch (rule, value) {
        case (nil, _):
            guard let level = try level.level(default: .whenUnlocked) else {
                throw ValidationError("--default takes --level LEVEL, --device-only or both")
            }
            return { $0.defaultLevel = level }
        case ("afu-ticket", "on"): return { $0.keepsTicket = true }
        case ("afu-ticket", "off"): return { $0.keepsTicket = false }
        case ("afu-ticket", _): throw ValidationError("afu-ticket takes on or off")
        case ("history", let value?):
            guard let count = Int(value), value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                throw Failure(VaultError.policyOutOfBounds, vault: nil)
            }
            return { policy throws(VaultError) in try policy.keepVersions(count) }
        case ("history", nil): throw ValidationError("history takes a number, 0 to 1000")
        case ("stretch", nil):
            guard kdfMem != nil || kdfTime != nil else { throw ValidationError("stretch takes --kdf-mem, --kdf-time") }
            // Only the given values are checked here. The other value comes from the vault and is within the limits.
            _ = try StretchOptions.parameters(memory: kdfMem ?? 64, passes: kdfTime ?? 3)
            let (memory, passes) = (kdfMem, kdfTime)
            return { policy throws(VaultError) in
                let now = policy.stretch
                try policy.stretch(memoryKiB: memory.map { $0 << 10 } ?? now.memoryKiB, passes: passes ?? now.passes)
            }
        case ("stretch", _): throw ValidationError("stretch takes --kdf-mem MIB and --kdf-time N")
        case (let rule?, _):
            throw ValidationError(
                "\"\(rule.shown)\" is not a rule; the rules are afu-ticket, history and stretch; --default --level LEVEL sets the default level"
            )
        }
    }
}

/// `omvault policy explain`
struct PolicyExplain: Verb {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Say in words who can read an item, and when.",
        discussion: """
              omvault policy explain github
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(help: "The item.", completion: .items)
    var item: String

    func run(_ context: CommandContext) throws {
        let name = try ItemReference.wholeName(item)
        let access = try VaultAccess(context)
        let secrets = try SecretSources(context, unlock.sources)
        let level = try access.read(.item(name), secrets, unlock).item().level
        let sentences = level.explanation(hasTicket: try access.policy(secrets, unlock).keepsTicket)
        guard context.output.format == .json else {
            for sentence in ["\(name.text): \(level.spoken)"] + sentences { try context.output.line(sentence) }
            return
        }
        var document = JSONDocument()
        document.field("item", .text(name.text))
        document.field("level", .text(level.name))
        document.field("device_only", .flag(level.isDeviceOnly))
        document.field("explanation", .list(sentences.map { .text($0) }))
        try context.output.document(document)
    }
}

extension ProtectionLevel {
    fileprivate var spoken: String { name + (isDeviceOnly ? ", device only" : "") }

    fileprivate func explanation(hasTicket: Bool) -> [String] {
        let when: [String] =
            switch availability {
            case .always:
                [
                    "Any process of yours on this device can read and change it at any time, without a password.",
                    "This device's key protects it: other users cannot read it, and neither can a person who has only the vault's"
                        + " file.",
                ]
            case .afterFirstUnlock:
                [
                    "While the vault is unlocked, any process of yours can read it through the agent.",
                    "After 'omvault lock' it stays readable until 'omvault lock --forget', the agent's end or the next boot.",
                    hasTicket
                        ? "The rule afu-ticket is on: it stays readable after the agent's end too, until the next boot, for any"
                            + " process of yours."
                        : "The rule afu-ticket is off: after the agent's end it needs a password, or another way to open the vault.",
                    "Before the first unlock after a boot it needs a password, or another way to open the vault.",
                ]
            case .whenUnlocked:
                [
                    "While the vault is unlocked, any process of yours can read it through the agent.",
                    "After 'omvault lock', an idle or hard time-out, the agent's end or a boot it needs a password, or another"
                        + " way to open the vault.",
                ]
            }
        let place =
            isDeviceOnly
            ? "It is bound to this device: no backup to another device contains it, and no recovery code opens it elsewhere."
            : "It may leave this device in backups; elsewhere a recovery code or key file opens it."
        return when + [place]
    }
}
