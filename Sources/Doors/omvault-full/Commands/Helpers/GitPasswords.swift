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
        guard let wanted = request.wanted else { return }
        let items = try SiteItems(context, unlock)
        let found = try items.found(wanted)
        guard let only = SiteItems.only(found) else {
            guard found.count > 1 else { return }
            let names = found.prefix(5).map { "\"\($0.item.name.text)\"" }.joined(separator: ", ")
            return context.output.notice(
                "several items are for \(wanted.server.shortOrigin): \(names); a user in the address, or credential.username, chooses"
            )
        }
        let password = try items.password(of: only)
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

    /// Keeps a password that a server took. An item of the user is never changed.
    func store(_ request: borrowing GitRequest) throws {
        guard let wanted = request.wanted, wanted.server.isSecure || wanted.server.isLoopback, let user = wanted.user,
            let password = request.password?.duplicate()
        else { return }
        let items = try SiteItems(context, unlock)
        let found = try items.found(wanted)
        for one in found where one.user == user {
            let kept = try items.password(of: one)
            if kept.isEqual(to: password) { return }
        }
        var change = ItemChange()
        try change.set.put(password, at: SiteItems.password)
        if let made = found.first(where: { $0.isOfHelper && $0.user == user }) {
            return try items.perform(.update(made.item.name, change, ifRevision: made.item.revision))
        }
        let url = wanted.server.shortOrigin + (wanted.path ?? "")
        try change.set.put(SecretBytes(copying: Array(url.utf8)), at: SiteItems.url)
        try change.set.put(SecretBytes(copying: Array(user.utf8)), at: SiteItems.userName)
        change.type = .becomes(.login)
        change.shown = [SiteItems.url, SiteItems.userName]
        change.addedTags = [SiteItems.tag]
        guard let name = Self.name(url, user, besides: items.names) else { return }
        try items.perform(.add(name, level: nil, change))
        context.output.notice("kept the password for \(url) as \"\(name.text)\"")
    }

    /// `git/HOST/USER`, with a number behind it if another item has that name.
    private static func name(_ url: String, _ user: String, besides names: Set<ItemName>) -> ItemName? {
        let host = url.split(separator: "://", maxSplits: 1).last.map(String.init) ?? url
        let start = "git/\(host)/\(user)"
        return ([start] + (2...99).map { "\(start) \($0)" }).lazy.compactMap { try? ItemName($0) }.first { !names.contains($0) }
    }

    /// Moves the item to the trash whose password the server refused, if `store` made it.
    ///
    /// Attack, or accident: a server refuses a right password, such as one that is out of order. So an item of the user stays,
    /// and each item has to have the very password that was refused.
    func erase(_ request: borrowing GitRequest) throws {
        guard let wanted = request.wanted, let refused = request.password?.duplicate() else { return }
        let items = try SiteItems(context, unlock)
        for one in try items.found(wanted) where one.isOfHelper {
            let kept = try items.password(of: one)
            guard kept.isEqual(to: refused) else { continue }
            try items.perform(.trash([one.item.name], ifRevision: one.item.revision))
            context.output.notice("moved \"\(one.item.name.text)\" to the trash: the server refused its password")
        }
    }
}

extension GitRequest {
    /// What to look for. Nil if it is no server of http or https.
    fileprivate var wanted: SiteItems.Wanted? {
        server.map { SiteItems.Wanted(server: $0, path: path.map { "/" + $0 }, user: user) }
    }
}
