internal import OMAuth
internal import OMItems
internal import OMSecrets
internal import OMShell

/// `omvault helper git` without a profile: the passwords that items of the vault have.
struct GitPasswords {
    let context: CommandContext
    let unlock: UnlockOptions

    /// Prints the user and the password of the only item for the address.
    func get(_ request: borrowing GitRequest) throws {
        guard !StandardOutput.isTerminal else {
            throw HelperToken.refusedAtTerminal("a password", instead: "omvault get prints one here")
        }
        // Before the vault's password is asked.
        guard let wanted = request.wanted, wanted.isSafe else { return }
        let items = try SiteItems(context, unlock)
        let found = try items.found(wanted)
        guard let only = SiteItems.only(found) else {
            guard found.count > 1 else { return }
            let names = found.prefix(5).map { "\"\($0.item.name.text)\"" }.joined(separator: ", ")
            let way =
                Set(found.map(\.user)).count == 1
                ? "leave one of them, or give them addresses with a path"
                : "a user in the address, or credential.username, chooses"
            return context.output.notice("several items are for \(wanted.server.shortOrigin): \(names); \(way)")
        }
        let password = try items.password(of: only.item)
        let user = request.user ?? only.user
        guard password.isOfOneLine, user?.isOfOneLine ?? true else {
            return context.output.notice("\"\(only.item.name.text)\" is not used: git takes no value of several lines")
        }
        var answer = SecretBuffer(capacity: 256)
        if let user { answer.append("username=\(user)\n".utf8Span.span) }
        answer.append("password=".utf8Span.span)
        answer.append(password)
        answer.append("\n".utf8Span.span)
        try context.output.writeSecret(answer.finish())
    }

    /// Nil if the vault is locked, or if there is none: git calls `store` and `erase` after each command.
    private func itemsIfUnlocked() throws(Failure) -> SiteItems? {
        do throws(Failure) { return try SiteItems(context, unlock) } catch {
            guard [.locked, .inputRequired, .noVault].contains(error.status) else { throw error }
            return nil
        }
    }

    /// Keeps a password that a server took. An item of the user is never changed.
    func store(_ request: borrowing GitRequest) throws {
        guard let wanted = request.wanted, wanted.isSafe, let user = wanted.user, !user.isEmpty, !request.isTemporary,
            let password = request.password?.duplicate(), password.count > 0, let items = try itemsIfUnlocked()
        else { return }
        let found = try items.found(wanted)
        // An item without a user is for every user.
        for one in found {
            let kept = try items.password(of: one.item)
            if kept.isEqual(to: password) { return }
        }
        var change = ItemChange()
        try change.set.put(password, at: SiteItems.password)
        // Accident: the password of one path replaces that of the whole server.
        if let made = found.first(where: { $0.isOfHelper && $0.user == user && $0.path == wanted.exactPath }) {
            return try items.perform(.update(made.item.name, change, ifRevision: made.item.revision))
        }
        let url = wanted.server.shortOrigin + (wanted.path ?? "")
        try change.set.put(SecretBytes(copying: Array(url.utf8)), at: SiteItems.url)
        try change.set.put(SecretBytes(copying: Array(user.utf8)), at: SiteItems.userName)
        change.type = .becomes(.login)
        change.shown = [SiteItems.url, SiteItems.userName]
        change.addedTags = [SiteItems.tag]
        let taken = items.names
        guard let name = SiteItems.names(url, user).first(where: { !taken.contains($0) }) else { return }
        try items.perform(.add(name, level: nil, change))
        context.output.notice("kept the password for \(url) as \"\(name.text)\"")
    }

    /// Moves the item to the trash whose password the server refused, if `store` made it.
    ///
    /// Attack, or accident: a server refuses a right password, for example when it is out of order. So an item of the user stays,
    /// and each item has to have the very password that was refused.
    func erase(_ request: borrowing GitRequest) throws {
        guard let wanted = request.wanted, wanted.isSafe, let refused = request.password?.duplicate(),
            let items = try itemsIfUnlocked()
        else { return }
        for one in try items.found(wanted) where one.isOfHelper && one.path == wanted.exactPath {
            let kept = try items.password(of: one.item)
            guard kept.isEqual(to: refused) else { continue }
            try items.perform(.trash([one.item.name], ifRevision: one.item.revision))
            context.output.notice("moved \"\(one.item.name.text)\" to the trash: the server refused its password")
        }
    }
}

extension GitRequest {
    /// What to look for. Nil if it is no server of http or https.
    fileprivate var wanted: SiteItems.Wanted? {
        server.map { SiteItems.Wanted(server: $0, path: path.flatMap { $0.isEmpty ? nil : "/" + $0 }, user: user) }
    }
}

extension SiteItems.Wanted {
    /// The path of an item for exactly this address.
    fileprivate var exactPath: String { path ?? "/" }
}
