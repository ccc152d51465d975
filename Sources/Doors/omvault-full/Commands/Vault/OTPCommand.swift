internal import ArgumentParser
internal import Glibc
internal import OMCrypto
internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMVault

/// `omvault otp`: the code of a one-time password in an item, or of a given URI.
struct OTPCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "otp",
        abstract: "Print a one-time password, or check one.",
        discussion: """
            The field has the text of the QR code, which begins with otpauth://, or the secret that a site shows beside it. ITEM
            alone means its field "otp", "totp" or "otpauth".

              omvault add github --field password=tty --field otp=tty
              omvault otp github
              omvault otp github --clip
              omvault otp github:otp --next
              omvault otp door --verify-from tty
              omvault otp --uri-from file:uri

            If a site refuses the code, look at this machine's clock: timedatectl. A code of another time is wrong.

            A counted code (hotp) is printed once: its next counter is stored first. With --uri-from nothing is stored. To write a
            URI, use 'omvault crypto otp-uri'.
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(help: ArgumentHelp("The item, or the item and a field.", valueName: "item[:field]"))
    var item: ItemReference?

    @Flag(help: "Print the code after the present one.")
    var next = false

    @OptionGroup var clip: ClipOption

    @Option(help: ArgumentHelp("Another time than now, such as 2026-11-21T18:33:00Z.", valueName: "time"))
    var at: String?

    @Option(help: ArgumentHelp("Check a code instead, and where it comes from; exit 20 if it is wrong.", valueName: "source"))
    var verifyFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("Open no vault: where the URI or the secret comes from.", valueName: "source"))
    var uriFrom: SecretSourceArgument?

    func validate() throws {
        guard (item == nil) != (uriFrom == nil) else {
            throw ValidationError(
                item == nil ? "name an item, or give --uri-from" : "--uri-from replaces the item; give only one")
        }
        if uriFrom != nil, !unlock.given.isEmpty || unlock.keyslot != nil || unlock.noAgent {
            throw ValidationError("--uri-from opens no vault, so nothing unlocks one")
        }
        if clip.clip != nil, verifyFrom != nil {
            throw ValidationError("--clip copies a code, and --verify-from checks one; give only one")
        }
        if next, verifyFrom != nil { throw ValidationError("--next prints a code, and --verify-from checks one; give only one") }
    }

    func run(_ context: CommandContext) throws {
        let time = try seconds()
        let clipboard = try clip.clipboard(context, instead: "omvault otp ITEM")
        let given = [(key: "--uri-from", value: uriFrom), (key: "--verify-from", value: verifyFrom)]
        guard let item else {
            let secrets = try SecretSources(context, given)
            let text = try secrets.read("--uri-from", prompt: "URI or secret", maximum: OTPAuthURI.maximumCount)
            let uri = try OTPAuthURI(readingURIOrSecret: text)
            let answer = OTPAnswer(context: context, clipboard: clipboard, path: nil, time: time, isNow: at == nil)
            let used = try usedCounter(of: uri, secrets, answer)
            if used != nil { context.output.notice("the URI keeps its counter: count it up before you use it again") }
            return try finish(uri, used, answer)
        }
        let name = try item.itemName()
        let access = try VaultAccess(context)
        let secrets = try SecretSources(context, unlock.sources + given.dropFirst())
        try access.explainingTrash(name, unlock) { try answer(item, of: access, to: clipboard, secrets, at: time) }
    }

    private func answer(
        _ item: ItemReference, of access: VaultAccess, to clipboard: Clipboard?, _ secrets: borrowing SecretSources,
        at time: UInt64
    ) throws {
        let name = try item.itemName()
        let found = try access.read(.item(name), secrets, unlock).item()
        let isNamed = item.field != nil && !item.meansMainField
        let path = try isNamed ? item.path() : FieldPath(name, OTPField(of: found).required())
        // Of this revision, so that a counter is not stored over a change of another process.
        let stored = try access.read(.secret(path, revision: found.revision), secrets, unlock).secret()
        let uri = try OTPAuthURI(readingURIOrSecret: stored)
        let answer = OTPAnswer(context: access.context, clipboard: clipboard, path: path, time: time, isNow: at == nil)
        let used = try usedCounter(of: uri, secrets, answer)
        if let used {
            guard used < .max else { throw OneTimePasswordError.counterUsedUp }
            var values = FieldValues()
            try values.put(try OTPAuthURI.replacingCounter(of: stored, with: used + 1), at: path.field)
            try access.unlock(secrets, unlock)
            // Attack: omvault is killed after it has shown a code. If the counter were stored later, the same code would be
            // shown, or accepted, a second time.
            do throws(Failure) {
                _ = try access.perform(.update(path.item, ItemChange(set: values), ifRevision: found.revision))
            } catch {
                guard error.status == .conflict else { throw error }
                throw error.with(hints: ["another process may have used this code: run the command again"])
            }
        }
        try finish(uri, used, answer)
    }

    /// The counter that a counted password uses up by this. Nil for a timed one.
    ///
    /// - Throws: ``ExitStatus/badSecret`` if the code to check is wrong.
    private func usedCounter(
        of uri: borrowing OTPAuthURI, _ secrets: borrowing SecretSources, _ answer: OTPAnswer
    ) throws -> UInt64? {
        let isTimed = if case .time = uri.password.factor { true } else { false }
        guard isTimed || (!next && at == nil) else {
            throw Failure(usage: "a counted code has no time: --next and --at are for timed ones")
        }
        guard verifyFrom != nil else { return isTimed ? nil : uri.password.counter(at: answer.time) }
        let code = try secrets.read("--verify-from", prompt: "Code")
        let found = try uri.password.counter(of: code, in: uri.password.window(at: answer.time))
        if found == nil { try answer.printMatch(false, isTimed: isTimed) }
        return isTimed ? nil : found
    }

    private func finish(_ uri: borrowing OTPAuthURI, _ used: UInt64?, _ answer: OTPAnswer) throws {
        if verifyFrom != nil {
            try answer.printMatch(true, isTimed: used == nil)
        } else {
            do { try answer.printCode(of: uri, isNext: next) } catch let failure as Failure {
                guard used != nil, failure.status == .clipboard else { throw failure }
                throw failure.with(hints: ["this code is used up; the next command gives the next one"] + failure.hints)
            }
        }
    }

    private func seconds() throws(Failure) -> UInt64 {
        guard let at else { return UInt64(clamping: time(nil)) }
        guard let seconds = Timestamp.seconds(at), seconds >= 0 else {
            throw Failure(
                .usage, "--at \"\(at)\" is not a time since 1970",
                hint: "write it as 2026-11-21T18:33:00Z, or 2026-11-21T19:33:00+01:00")
        }
        return UInt64(seconds)
    }
}
