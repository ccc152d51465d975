// The items whose shown field `url` is the address of a server, for helpers of git and askpass.

internal import OMAuth
internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMVault

/// Items of an unlocked vault, found by an address.
struct SiteItems {
    private let access: VaultAccess
    private let all: [Item]

    /// The mark of an item that `helper git store` made.
    static let tag = ItemTag(checked: "git-credential")
    static let url = FieldName(checked: "url")
    static let userName = FieldName(checked: "username")
    static let password = FieldName(checked: "password")

    /// What a program asks for.
    struct Wanted {
        let server: ServerURL
        /// With a slash in front. Nil if the program names none.
        let path: String?
        /// Nil for any user.
        let user: String?

        /// Attack: someone on the way reads the password. So over plain http it goes only to this machine.
        var isSafe: Bool { server.isSecure || server.isLoopback }
    }

    /// An item for the address.
    struct Found {
        let item: Item
        /// Nil if the item has none.
        let user: String?
        /// The value of its field `url`.
        let url: String
        /// That of the address, with a slash in front.
        let path: String

        /// Whether `helper git store` made it. Accident: a copy of such an item has the tag too, and is the user's. So the name
        /// has to be one that `store` gives.
        var isOfHelper: Bool {
            guard let user, item.details.tags.contains(SiteItems.tag) else { return false }
            return SiteItems.names(url, user).contains(item.name)
        }
    }

    /// The names of an item that `helper git store` makes: `git/HOST/USER`, and the same with a number behind it.
    static func names(_ url: String, _ user: String) -> some Sequence<ItemName> {
        let host = url.split(separator: "://", maxSplits: 1).last.map(String.init) ?? url
        let start = "git/\(host)/\(user)"
        return ([start] + (2...99).map { "\(start) \($0)" }).lazy.compactMap { try? ItemName($0) }
    }

    /// Unlocks the vault, and reads the list of its items.
    init(
        _ context: CommandContext, _ unlock: UnlockOptions
    ) throws(Failure) {
        access = try VaultAccess(context)
        let secrets = try SecretSources(context, unlock.sources)
        try access.unlock(secrets, unlock)
        all = try access.perform(.items(trashed: false)).items()
    }

    var names: Set<ItemName> { Set(all.map(\.name)) }

    /// The items for the address with a password, those of the longest path.
    ///
    /// Attack: a repository names another host, port or scheme, a user in its address, or a host that looks like another. So
    /// all of them must be equal, as the strict reader of addresses has them, which takes ASCII only.
    ///
    /// - Parameter name: Nil for every item. The item of this name needs no field `password`.
    func found(_ wanted: Wanted, named name: ItemName? = nil) throws(Failure) -> [Found] {
        guard wanted.isSafe else { return [] }
        var found: [Found] = []
        for item in all where name.map({ $0 == item.name }) ?? Self.hasPassword(item) {
            guard let text = item.fields.first(where: { $0.name == Self.url })?.shownValue, let own = ServerURL(text),
                own.origin == wanted.server.origin, !text.contains("?"), Self.isPath(own.path, over: wanted.path)
            else { continue }
            let user = try userName(of: item)
            guard wanted.user == nil || user == nil || user == wanted.user else { continue }
            found.append(Found(item: item, user: user, url: text, path: own.path))
        }
        let longest = found.map(\.path.utf8.count).max()
        return found.filter { $0.path.utf8.count == longest }
    }

    private static func hasPassword(_ item: Item) -> Bool {
        item.fields.contains { $0.name == password && !$0.isLarge }
    }

    /// Whether the path of an item is that of the request, or a folder above it. An item without a path is for all paths.
    private static func isPath(_ own: String, over wanted: String?) -> Bool {
        if own == "/" { return true }
        // Attack: /team/../other is below /team in its text, and another folder of the server.
        guard let wanted, !wanted.split(separator: "/").contains(where: { $0 == "." || $0 == ".." }) else { return false }
        return wanted == own || wanted.hasPrefix(own.hasSuffix("/") ? own : own + "/")
    }

    private func userName(of item: Item) throws(Failure) -> String? {
        guard let field = item.fields.first(where: { $0.name == Self.userName }) else { return nil }
        if let shown = field.shownValue { return shown }
        guard field.count <= Item.maximumShownCount else { return nil }
        return try access.secret(FieldPath(item.name, Self.userName)).withBytes { bytes in
            String(validating: bytes.indices.map { bytes[$0] }, as: UTF8.self)
        }
    }

    /// The only one. Of two for one user the item of `store` counts: a server has taken its password.
    static func only(_ found: [Found]) -> Found? {
        if found.count == 1 { return found[0] }
        let made = found.filter(\.isOfHelper)
        return Set(found.map(\.user)).count == 1 && made.count == 1 ? made[0] : nil
    }

    /// The only item with exactly this address and a password.
    func item(withURL text: String) -> Item? {
        let found = all.filter { item in
            item.fields.contains { $0.name == Self.url && $0.shownValue == text } && Self.hasPassword(item)
        }
        return found.count == 1 ? found[0] : nil
    }

    func password(of item: Item) throws(Failure) -> SecretBytes { try secret(FieldPath(item.name, Self.password)) }

    func secret(_ path: FieldPath) throws(Failure) -> SecretBytes { try access.secret(path) }

    /// Changes the vault.
    func perform(_ request: consuming ItemRequest) throws(Failure) { _ = try access.perform(request) }
}

extension String {
    /// Whether it can be the value of a line.
    var isOfOneLine: Bool { utf8.allSatisfy { $0 != 0 && $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") } }
}

extension SecretBytes {
    /// Whether it can be the value of a line.
    ///
    /// Attack: a stored password with a newline adds lines to the answer, which name another user or host.
    var isOfOneLine: Bool {
        withBytes { bytes in
            bytes.indices.allSatisfy { bytes[$0] != 0 && bytes[$0] != UInt8(ascii: "\n") && bytes[$0] != UInt8(ascii: "\r") }
        }
    }
}
