// An item of 1Password's export, and what becomes of each of its members.

internal import OMItems
internal import OMJSON
internal import OMSecrets

struct OnePasswordItem {
    private let item: JSONRanges
    var entry: ForeignEntry
    /// The attached files, each with its place among the fields. The last one comes first, so that the places stay right.
    private(set) var attachments: [(place: Int, file: OnePasswordFile)] = []

    /// What means something to 1Password alone.
    private static let unneeded: Set<String> = [
        "subtitle", "icons", "ps", "pbe", "pgrng", "watchtowerExclusions", "ainfo", "pbec", "pbem",
    ]

    init(_ item: JSONRanges, _ bytes: Span<UInt8>) {
        self.item = item
        let overview = item["overview"]
        entry = ForeignEntry(title: overview?["title"]?.text(in: bytes) ?? "")
        entry.created = item["createdAt"]?.number(in: bytes).map(Int64.init)
        entry.modified = item["updatedAt"]?.number(in: bytes).map(Int64.init)
        entry.tags = (overview?["tags"]?.elements ?? []).compactMap { $0.text(in: bytes) }
        if let place = item["favIndex"]?.number(in: bytes), place != 0 { entry.tags.append("favorite") }
        addState(bytes)
        addCategory(bytes)
        addLogin(bytes)
        addAddresses(bytes)
        addSections(bytes)
        addOthers(bytes)
        attachments.reverse()
    }

    private mutating func addState(_ bytes: Span<UInt8>) {
        switch item["state"]?.text(in: bytes) ?? "active" {
        case "active", "": break
        case "archived": entry.tags.append("archived")
        case "trashed", "deleted": entry.isTrashed = true
        default: entry.losses.append(.member("state"))
        }
        if case .bool(true)? = item["trashed"] { entry.isTrashed = true }
    }

    /// A category without a type of its own becomes a tag.
    private mutating func addCategory(_ bytes: Span<UInt8>) {
        let code = item["categoryUuid"]?.text(in: bytes) ?? ""
        if let type = Self.types[code] {
            entry.type = type
        } else if let name = Self.names[code] {
            entry.type = code == "110" ? .login : .custom
            entry.tags.append(name)
        } else {
            entry.losses.append(.member("category \(code)"))
        }
    }

    private static let types: [String: ItemType] = [
        "001": .login, "002": .card, "003": .note, "004": .identity, "005": .login, "006": .file, "102": .database,
        "112": .apiKey, "114": .sshKey,
    ]

    private static let names = [
        "100": "software license", "101": "bank account", "103": "driver license", "104": "outdoor license",
        "105": "membership", "106": "passport", "107": "rewards", "108": "social security number", "109": "router",
        "110": "server", "111": "email account", "113": "medical record", "115": "crypto wallet",
    ]

    // MARK: - Details

    private mutating func addLogin(_ bytes: Span<UInt8>) {
        let details = item["details"]
        for field in details?["loginFields"]?.elements ?? [] {
            entry.losses += field.losses(but: ["value", "id", "name", "fieldType", "designation"], of: "a field of the form")
            guard let value = field["value"], !value.isNothing else { continue }
            let names = [field["name"]?.text(in: bytes), field["id"]?.text(in: bytes)]
            let name = names.compactMap { $0 }.first { !$0.isEmpty } ?? ""
            let isShown = ["T", "E", "U", "N", "TEL"].contains(field["fieldType"]?.text(in: bytes) ?? "")
            switch field["designation"]?.text(in: bytes) {
            case "username": add(value, "", .username, isConcealed: false, in: bytes)
            case "password": add(value, "", .password, in: bytes)
            default: add(value, name, .other, isConcealed: !isShown, in: bytes)
            }
        }
        if let password = details?["password"], !password.isNothing { add(password, "", .password, in: bytes) }
        if let notes = details?["notesPlain"], !notes.isNothing { add(notes, "", .notes, in: bytes) }
        if let file = details?["documentAttributes"], !file.isNothing { add(file: file, "", bytes) }
        if let old = details?["passwordHistory"]?.elements, !old.isEmpty { entry.losses.append(.olderVersions(old.count)) }
    }

    /// The first address is mostly in the list of all addresses too.
    private mutating func addAddresses(_ bytes: Span<UInt8>) {
        let overview = item["overview"]
        var known: Set<String> = []
        let addresses = overview?["urls"]?.elements ?? []
        for address in addresses { entry.losses += address.losses(but: ["url", "label", "mode"], of: "an address") }
        let listed = addresses.map { ($0["url"], $0["label"]?.text(in: bytes) ?? "") }
        for (address, label) in listed + [(overview?["url"], "")] {
            let isUsual = ["", "website", "url"].contains(label.lowercased())
            guard let address, let text = address.text(in: bytes), !text.isEmpty else { continue }
            // An address without a label of its own says nothing new. Each other label does.
            guard known.insert(isUsual ? text : "\(label)\n\(text)").inserted else { continue }
            known.insert(text)
            add(address, isUsual ? "" : label, isUsual ? .url : .other, isConcealed: false, in: bytes)
        }
    }

    private mutating func addSections(_ bytes: Span<UInt8>) {
        var fields = OnePasswordFields(category: item["categoryUuid"]?.text(in: bytes) ?? "")
        for section in item["details"]?["sections"]?.elements ?? [] { fields.add(section, bytes) }
        let start = entry.fields.count
        entry.fields += fields.fields
        entry.losses += fields.losses
        for (place, file) in fields.attachments { attachments.append((start + place, file)) }
    }

    /// - Parameter title: The name of a file without a name.
    mutating func add(file: JSONRanges, _ title: String, _ bytes: Span<UInt8>) {
        let attached = OnePasswordFile(file, title, bytes)
        attachments.append((entry.fields.count, attached))
    }

    // MARK: - The rest

    private mutating func addOthers(_ bytes: Span<UInt8>) {
        let known: [(JSONRanges?, Set<String>)] = [
            (
                item,
                [
                    "uuid", "favIndex", "createdAt", "updatedAt", "state", "trashed", "categoryUuid", "details", "overview",
                ]
            ),
            (
                item["details"],
                ["loginFields", "password", "notesPlain", "documentAttributes", "passwordHistory", "sections"]
            ),
            (item["overview"], Self.unneeded.union(["title", "tags", "url", "urls"])),
        ]
        for (object, names) in known {
            for (name, value) in object?.members ?? [] where !names.contains(name) && !value.isNothing {
                entry.losses.append(.member(name))
            }
        }
    }

    private mutating func add(
        _ value: JSONRanges, _ name: String, _ role: ForeignField.Role, isConcealed: Bool = true,
        in bytes: Span<UInt8>
    ) {
        guard let secret = value.secret(in: bytes) else {
            entry.losses.append(.member(name.isEmpty ? role.rawValue : name))
            return
        }
        entry.fields.append(ForeignField(name, role, isConcealed: isConcealed, secret))
    }
}
