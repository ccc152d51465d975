internal import ArgumentParser
internal import OMAuth
internal import OMItems
internal import OMSecrets
internal import OMShell

/// `omvault helper askpass`: answers the prompt of ssh, git or sudo.
struct AskpassHelper: Verb {
    static let configuration = CommandConfiguration(
        commandName: "askpass",
        abstract: "Answer a prompt of ssh, git or sudo.",
        discussion: """
            These programs start the program that SSH_ASKPASS, GIT_ASKPASS or SUDO_ASKPASS names, with their prompt. So make a link
            with the name omvault-askpass to omvault. For git it finds the item with the address in its field url, as 'helper git'
            does; for a key of ssh the item whose field url is file:// and the path of the key. For any other password, and for sudo,
            --item or OMVAULT_ASKPASS_ITEM names the item. For git that item must have the address too. A prompt that asks for no
            password gets no secret (10).

              ln -s "$(command -v omvault)" ~/bin/omvault-askpass
              omvault add laptop-key --type login --plain url=file://$HOME/.ssh/id_ed25519 --field password=tty
              SSH_ASKPASS=~/bin/omvault-askpass SSH_ASKPASS_REQUIRE=force ssh-add
              OMVAULT_ASKPASS_ITEM=host SUDO_ASKPASS=~/bin/omvault-askpass sudo -A true
              omvault helper askpass --item host '[sudo] password for ada: '
            """)

    /// The variable that names the item, for programs that give no option.
    static let itemVariable = "OMVAULT_ASKPASS_ITEM"

    /// The arguments, if the program was started under the name for it.
    static func arguments(_ typed: [String]) -> [String] {
        ProcessStart.isOfAskpass ? ["helper", "askpass", "--"] + typed : typed
    }

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Option(
        help: ArgumentHelp("The item, or the item and a field. For git it must be for the address.", valueName: "item[:field]"))
    var item: ItemReference?

    @Argument(help: "The prompt. The program gives it.")
    var prompt: String

    func run(_ context: CommandContext) throws {
        guard !StandardOutput.isTerminal else {
            throw HelperToken.refusedAtTerminal("a password", instead: "omvault get prints one here")
        }
        switch Environment.text("SSH_ASKPASS_PROMPT") {
        // ssh wants an exit code, and no text.
        case "confirm":
            guard try context.terminal.isAgreed(prompt) else { throw Failure(aborted: "not confirmed") }
            return
        case "none": return context.terminal.tell(prompt)
        default: break
        }
        let asked = AskedPrompt(prompt)
        let named = item ?? Environment.text(Self.itemVariable).flatMap { ItemReference(argument: $0) }
        guard asked != .other else { throw nothing("the prompt asks for no password") }
        let answer = try named.map { try read($0, for: asked, context) } ?? find(asked, context)
        guard answer.isOfOneLine else { throw nothing("the value has several lines") }
        var line = SecretBuffer(capacity: 256)
        line.append(answer)
        line.append(UInt8(ascii: "\n"))
        try context.output.writeSecret(line.finish())
    }
}

extension AskpassHelper {
    /// The value of the named item.
    ///
    /// Attack: the variable is set for one program, and git, which a script or a repository starts there, asks for another
    /// server. So to a prompt that names an address the item answers only if it is for that address.
    private func read(
        _ reference: ItemReference, for asked: AskedPrompt, _ context: CommandContext
    ) throws -> SecretBytes {
        let name = try reference.itemName()
        if let wanted = asked.wanted {
            guard wanted.isSafe else { throw plainHTTP(wanted) }
            let items = try SiteItems(context, unlock)
            guard let one = try items.found(wanted, named: name).first else {
                throw nothing("\"\(name.text.shown)\" is not for \(wanted.server.shortOrigin)")
            }
            if case .userName = asked { return try user(of: one) }
            return try items.secret(path(of: reference) { () throws(Failure) in one.item })
        }
        let access = try VaultAccess(context)
        let secrets = try SecretSources(context, unlock.sources)
        let path = try path(of: reference) { () throws(Failure) in
            try access.read(.item(name), secrets, unlock).item()
        }
        return try access.read(.secret(path, revision: nil), secrets, unlock).secret()
    }

    private func path(
        of reference: ItemReference, in item: () throws(Failure) -> Item
    ) throws -> FieldPath {
        if reference.field != nil, !reference.meansMainField { return try reference.path() }
        return try FieldPath(reference.itemName(), MainField(of: item()).required())
    }

    /// The value of the only item for what the prompt names.
    private func find(_ asked: AskedPrompt, _ context: CommandContext) throws -> SecretBytes {
        if let wanted = asked.wanted {
            guard wanted.isSafe else { throw plainHTTP(wanted) }
            let items = try SiteItems(context, unlock)
            guard let one = SiteItems.only(try items.found(wanted)) else {
                throw nothing("no item, or more than one, is for \(wanted.server.shortOrigin)")
            }
            if case .userName = asked { return try user(of: one) }
            return try items.password(of: one.item)
        }
        guard case .passphrase(let path) = asked else { throw nothing("the prompt names no address and no key") }
        let items = try SiteItems(context, unlock)
        let url = "file://" + AbsolutePath.absolute(path)
        guard let item = items.item(withURL: url) else {
            throw nothing("no item, or more than one, has the field url with \(url)")
        }
        return try items.password(of: item)
    }

    private func user(of found: SiteItems.Found) throws(Failure) -> SecretBytes {
        guard let user = found.user else { throw nothing("\"\(found.item.name.text)\" has no username") }
        return SecretBytes(copying: Array(user.utf8))
    }

    private func plainHTTP(_ wanted: SiteItems.Wanted) -> Failure {
        nothing("\(wanted.server.shortOrigin) is plain http, which anyone on the way can read")
    }

    private func nothing(_ problem: String) -> Failure {
        Failure(
            .notFound, "the prompt gets no answer: \(problem)",
            hint: AskedPrompt(prompt).wanted == nil
                ? "\(Self.itemVariable)=ITEM names the item for a password"
                : "an item is for it if its shown field url has the address",
            "the prompt was: \(prompt)")
    }
}

extension AskedPrompt {
    /// The address that the prompt names.
    fileprivate var wanted: SiteItems.Wanted? {
        switch self {
        case .userName(let server): SiteItems.Wanted(server: server, path: server.path, user: nil)
        case .password(let server, let user): SiteItems.Wanted(server: server, path: server.path, user: user)
        case .passphrase, .anyPassword, .other: nil
        }
    }
}
