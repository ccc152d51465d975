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
            --item or OMVAULT_ASKPASS_ITEM names the item. A prompt that asks for no password gets no secret (10).

              ln -s "$(command -v omvault)" ~/bin/omvault-askpass
              omvault add laptop-key --type login --plain url=file://$HOME/.ssh/id_ed25519 --field password=tty
              SSH_ASKPASS=~/bin/omvault-askpass SSH_ASKPASS_REQUIRE=force ssh-add
              OMVAULT_ASKPASS_ITEM=host SUDO_ASKPASS=~/bin/omvault-askpass sudo -A true
            """)

    /// The variable that names the item, for programs that give no option.
    static let itemVariable = "OMVAULT_ASKPASS_ITEM"

    /// The arguments, if the program was started under the name for it.
    static func arguments(_ typed: [String]) -> [String] {
        ProcessStart.isOfAskpass ? ["helper", "askpass", "--"] + typed : typed
    }

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Option(help: ArgumentHelp("The item, or the item and a field, whatever the prompt names.", valueName: "item[:field]"))
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
    private func read(
        _ reference: ItemReference, for asked: AskedPrompt, _ context: CommandContext
    ) throws -> SecretBytes {
        let name = try reference.itemName()
        let access = try VaultAccess(context)
        let secrets = try SecretSources(context, unlock.sources)
        if case .userName = asked {
            return try access.read(.secret(FieldPath(name, SiteItems.userName), revision: nil), secrets, unlock).secret()
        }
        let path =
            try reference.field != nil && !reference.meansMainField
            ? reference.path()
            : FieldPath(name, MainField(of: try access.read(.item(name), secrets, unlock).item()).required())
        return try access.read(.secret(path, revision: nil), secrets, unlock).secret()
    }

    /// The value of the only item for what the prompt names.
    private func find(_ asked: AskedPrompt, _ context: CommandContext) throws -> SecretBytes {
        switch asked {
        case .userName(let server): return try only(.init(server: server, path: server.path, user: nil), context, ofUser: true)
        case .password(let server, let user): return try only(.init(server: server, path: server.path, user: user), context)
        case .passphrase(let path):
            let items = try SiteItems(context, unlock)
            let url = "file://" + AbsolutePath.absolute(path)
            guard let item = items.item(withURL: url) else {
                throw nothing("no item, or more than one, has the field url with \(url)")
            }
            return try items.password(of: item)
        case .anyPassword, .other: throw nothing("the prompt names no address and no key")
        }
    }

    private func only(
        _ wanted: SiteItems.Wanted, _ context: CommandContext, ofUser: Bool = false
    ) throws -> SecretBytes {
        let items = try SiteItems(context, unlock)
        guard let one = SiteItems.only(try items.found(wanted)) else {
            throw nothing("no item, or more than one, is for \(wanted.server.shortOrigin)")
        }
        guard ofUser else { return try items.password(of: one) }
        guard let user = one.user else { throw nothing("\"\(one.item.name.text)\" has no username") }
        return SecretBytes(copying: Array(user.utf8))
    }

    private func nothing(_ problem: String) -> Failure {
        Failure(
            .notFound, "the prompt gets no answer: \(problem)", hint: "\(Self.itemVariable)=ITEM names the item for a password",
            "the prompt was: \(prompt)")
    }
}
