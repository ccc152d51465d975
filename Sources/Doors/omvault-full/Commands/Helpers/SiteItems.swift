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
    }

    /// An item for the address.
    struct Found {
        let item: Item
        /// Nil if the item has none.
        let user: String?

        var isOfHelper: Bool { item.details.tags.contains(SiteItems.tag) }
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
    /// Attack: someone on the way reads the password. So over plain http it goes only to this machine.
    func found(_ wanted: Wanted) throws(Failure) -> [Found] {
        guard wanted.server.isSecure || wanted.server.isLoopback else { return [] }
        var found: [(Found, length: Int)] = []
        for item in all where item.fields.contains(where: { $0.name == Self.password && !$0.isLarge }) {
            guard let text = item.fields.first(where: { $0.name == Self.url })?.shownValue, let own = ServerURL(text),
                own.origin == wanted.server.origin, !text.contains("?"), Self.isPath(own.path, over: wanted.path)
            else { continue }
            let user = try userName(of: item)
            guard wanted.user == nil || user == nil || user == wanted.user else { continue }
            found.append((Found(item: item, user: user), own.path.utf8.count))
        }
        let longest = found.map(\.length).max()
        return found.filter { $0.length == longest }.map(\.0)
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

    /// The only one. Of two for one user the one that `store` made counts: a server has taken its password.
    static func only(_ found: [Found]) -> Found? {
        if found.count == 1 { return found[0] }
        let made = found.filter(\.isOfHelper)
        return Set(found.map(\.user)).count == 1 && made.count == 1 ? made[0] : nil
    }

    /// The only item with exactly this address and a password.
    func item(withURL text: String) -> Found? {
        let found = all.filter { item in
            item.fields.contains { $0.name == Self.url && $0.shownValue == text }
                && item.fields.contains { $0.name == Self.password && !$0.isLarge }
        }
        return found.count == 1 ? Found(item: found[0], user: nil) : nil
    }

    func password(of found: Found) throws(Failure) -> SecretBytes {
        try access.secret(FieldPath(found.item.name, Self.password))
    }

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
