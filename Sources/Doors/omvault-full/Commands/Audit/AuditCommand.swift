internal import ArgumentParser
internal import OMItems
internal import OMShell
internal import OMSystem
internal import OMVault

/// `omvault audit`: the passwords that should be changed.
struct AuditCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Find weak, reused, old and breached passwords.",
        discussion: """
            Reads the field 'password' of each item, and prints what should be changed. It prints no password, and asks no server.

            Without an option it looks for weak and reused passwords, for those that were not changed for a year, and for items that
            expire within 30 days. With --weak, --reused, --old or --expiring it looks only for what they name. --breached adds a list
            of breached passwords: a file of SHA-1 or NTLM hashes, as haveibeenpwned.com gives it. A list above 64 MiB has to be
            sorted.

              omvault audit
              omvault audit work/
              omvault audit --breached pwned-passwords-sha1.txt
              omvault audit --weak --bits 60 --json
              omvault audit --old 180 --expiring 14
              omvault audit --fail-on weak,breached --breached pwned-passwords-sha1.txt

            With --fail-on it exits with 41 if there is such a finding. If there is none, but an item could not be read, with 7, and with 30 if
            the list of breached passwords may be cut off.
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(help: "Only these items, and those below PATH/.", completion: .namesOfItems)
    var path: [String] = []

    @Flag(help: "Find passwords that are easy to guess.")
    var weak = false

    @Option(help: ArgumentHelp("Below so many bits a password is weak; \(PasswordStrength.weak) by default.", valueName: "bits"))
    var bits: Int?

    @Flag(help: "Find passwords that several items have.")
    var reused = false

    @Option(help: ArgumentHelp("Find passwords that were not changed for so many days.", valueName: "days"))
    var old: DayCount?

    @Option(help: ArgumentHelp("Find items that are out of date within so many days, or now.", valueName: "days"))
    var expiring: DayCount?

    @Option(help: ArgumentHelp("Find passwords in this list of hashes too.", valueName: "file"), completion: .file())
    var breached: String?

    @Option(
        help: ArgumentHelp(
            "Exit with 41 if there is such a finding: \(AuditFinding.Kind.names), or any.", valueName: "list"),
        completion: .findings)
    var failOn: String?

    var printsRows: Bool { true }

    private var choosesKinds: Bool { weak || reused || old != nil || expiring != nil }
    private var looksForWeak: Bool { weak || !choosesKinds }

    func validate() throws {
        if let bits, !(1...200).contains(bits) { throw ValidationError("--bits takes 1 to 200 bits") }
        if bits != nil, !looksForWeak { throw ValidationError("--bits is for --weak: give that too") }
        _ = try failing()
    }

    func run(_ context: CommandContext) throws {
        // The list is opened before a password is asked for.
        let wanted = try wanted()
        let access = try VaultAccess(context)
        let secrets = try SecretSources(context, unlock.sources)
        try access.unlock(secrets, unlock)
        let all = try access.perform(.items(trashed: false)).items()
        let items = try ExportReading.Wanted(paths: path, tags: [], type: nil).items(of: all, vault: access.location.name)
        let reading = try AuditReading(items, wanted, from: access, now: secondsNow())
        let file = try access.file()
        let bound = try access.run { () throws(VaultError) in try file.itemsOfOtherDevice() }
        let report = AuditReport(reading, wanted.kinds, bound: namesEach(of: items) ? 0 : bound)
        try report.show(context)
        let failing = try failing()
        if report.hasFinding(of: failing) { throw AlreadyReported(status: .auditFindings) }
        // Attack, or accident: a list whose download broke has no hash behind its end.
        if failing.contains(.breached), let doubt = report.listDoubt {
            throw Failure(.corrupt, "the list of breached passwords may be cut off: it \(doubt)", hint: "get the list again")
        }
        // Attack, or accident: a script takes an audit for clean that did not see every password.
        if !failing.isEmpty, report.unread > 0 {
            throw Failure(
                .locked, "\(report.unread.of("item")) could not be read, so the audit is not whole",
                hint: "run it on the device that the items are bound to, or name each item to look at")
        }
    }

    /// Whether the line names each of these items. If not, an item that cannot be read here may be below one of its paths: the
    /// name of such an item is not known.
    private func namesEach(of items: [Item]) -> Bool {
        func isNamed(_ item: Item, _ path: String) -> Bool { item.name.text.utf8.elementsEqual(path.utf8) }
        return !path.isEmpty && path.allSatisfy { path in items.contains { isNamed($0, path) } }
            && items.allSatisfy { item in path.contains { isNamed(item, $0) } }
    }

    private func wanted() throws(Failure) -> AuditReading.Wanted {
        var wanted = AuditReading.Wanted()
        if looksForWeak { wanted.weak = bits ?? PasswordStrength.weak }
        wanted.isReused = reused || !choosesKinds
        wanted.old = (old ?? (choosesKinds ? nil : DayCount(days: 365)))?.seconds
        wanted.expiring = (expiring ?? (choosesKinds ? nil : DayCount(days: 30)))?.seconds
        if let breached { wanted.breached = try BreachedFile(breached) }
        return wanted
    }

    /// The kinds of `--fail-on`.
    private func failing() throws -> [AuditFinding.Kind] {
        guard let failOn else { return [] }
        let asked = AuditFinding.Kind.allCases.filter { kind in
            switch kind {
            case .weak: looksForWeak
            case .reused: reused || !choosesKinds
            case .old: old != nil || !choosesKinds
            case .expiring: expiring != nil || !choosesKinds
            case .breached: breached != nil
            }
        }
        if failOn == AuditFinding.Kind.any { return asked }
        return try failOn.split(separator: ",", omittingEmptySubsequences: false).map { word in
            guard let kind = AuditFinding.Kind(rawValue: String(word)) else {
                throw ValidationError("--fail-on takes \(AuditFinding.Kind.names), separated by commas, or any")
            }
            guard asked.contains(kind) else {
                throw ValidationError("--fail-on \(kind.rawValue) needs --\(kind.rawValue): this line does not look for it")
            }
            return kind
        }
    }
}
