// An item of Bitwarden's JSON export, and what becomes of each of its members.

internal import OMItems
internal import OMJSON
internal import OMSecrets

struct BitwardenItem {
    private let item: JSONRanges
    private let folders: [String: String]
    private let collections: [String: String]

    /// - Parameters:
    ///   - folders: The names of folders, by their ids.
    ///   - collections: Those of collections.
    init(_ item: JSONRanges, folders: [String: String], collections: [String: String]) {
        (self.item, self.folders, self.collections) = (item, folders, collections)
    }

    /// Members that have a place in an entry, or mean nothing outside Bitwarden: ids, and times, since an item's own times are
    /// those of the import.
    private static let known: Set<String> = [
        "id", "organizationId", "folderId", "collectionIds", "type", "name", "notes", "favorite", "fields", "login", "card",
        "identity", "sshKey", "secureNote", "passwordHistory", "creationDate", "revisionDate", "deletedDate", "archivedDate",
        "object", "edit",
        "viewPassword", "organizationUseTotp", "permissions",
    ]

    func entry(in bytes: Span<UInt8>) -> ForeignEntry {
        var entry = ForeignEntry(title: item["name"]?.text(in: bytes) ?? "")
        entry.isTrashed = item["deletedDate"].map { !$0.isNothing } ?? false
        if case .bool(true)? = item["favorite"] { entry.tags.append("favorite") }
        if let date = item["archivedDate"], !date.isNothing { entry.tags.append("archived") }
        addPlaces(to: &entry, in: bytes)
        switch item["type"]?.number(in: bytes) {
        case 1: entry.type = .login
        case 2: entry.type = .note
        case 3: entry.type = .card
        case 4: entry.type = .identity
        case 5: entry.type = .sshKey
        default: entry.losses.append(.member("type"))
        }
        // Whatever the type: what is there is taken over.
        addLogin(to: &entry, in: bytes)
        addCard(to: &entry, in: bytes)
        addIdentity(to: &entry, in: bytes)
        addKey(to: &entry, in: bytes)
        add(item["notes"], "", .notes, to: &entry, in: bytes)
        for field in item["fields"]?.elements ?? [] { add(custom: field, to: &entry, in: bytes) }
        if let history = item["passwordHistory"]?.elements, !history.isEmpty {
            entry.losses.append(.olderVersions(history.count))
        }
        for (name, value) in item.members where !Self.known.contains(name) && !value.isNothing {
            // 0 is the usual value of flags such as `reprompt`.
            guard value.number(in: bytes) != 0 else { continue }
            entry.losses.append(.member(name))
        }
        return entry
    }

    private func addPlaces(to entry: inout ForeignEntry, in bytes: Span<UInt8>) {
        let folder = item["folderId"]?.text(in: bytes).flatMap { folders[$0] }
        var others = (item["collectionIds"]?.elements ?? []).compactMap { $0.text(in: bytes).flatMap { collections[$0] } }
        if let place = folder ?? others.first {
            entry.folders = place.split(separator: "/").map(String.init)
            if folder == nil { others.removeFirst() }
        }
        entry.tags += others
    }

    private func add(
        _ value: JSONRanges?, _ name: String, _ role: ForeignField.Role, isConcealed: Bool = false, to entry: inout ForeignEntry,
        in bytes: Span<UInt8>
    ) {
        guard let value, !value.isNothing else { return }
        guard let secret = value.secret(in: bytes) else {
            entry.losses.append(.member(name.isEmpty ? role.rawValue : name))
            return
        }
        entry.fields.append(ForeignField(name, role, isConcealed: isConcealed, secret))
    }

    /// The members as one text: texts and numbers. What is neither is lost.
    private func joined(
        _ names: [String], of object: JSONRanges?, by separator: String, to entry: inout ForeignEntry, in bytes: Span<UInt8>
    ) -> String {
        var parts: [String] = []
        for name in names {
            guard let value = object?[name], !value.isNothing else { continue }
            if let secret = value.secret(in: bytes) {
                parts.append(ForeignText.string(secret))
            } else {
                entry.losses.append(.member(name))
            }
        }
        return parts.joined(separator: separator)
    }

    /// Adds the members that are not in `names` under their own names, so that nothing of a later Bitwarden is lost.
    private func addOthers(
        of object: JSONRanges?, but names: Set<String>, to entry: inout ForeignEntry, in bytes: Span<UInt8>
    ) {
        for (name, value) in object?.members ?? [] where !names.contains(name) && !value.isNothing {
            guard let secret = value.secret(in: bytes) else {
                entry.losses.append(.member(name))
                continue
            }
            entry.fields.append(ForeignField(name, .other, isConcealed: true, secret))
        }
    }

    private func addLogin(to entry: inout ForeignEntry, in bytes: Span<UInt8>) {
        let login = item["login"]
        add(login?["username"], "", .username, to: &entry, in: bytes)
        add(login?["password"], "", .password, isConcealed: true, to: &entry, in: bytes)
        for place in login?["uris"]?.elements ?? [] {
            add(place["uri"], "", .url, to: &entry, in: bytes)
            if let match = place["match"], !match.isNothing { entry.losses.append(.member("match")) }
        }
        if let value = login?["totp"]?.secret(in: bytes) {
            entry.fields.append(ForeignField("", .otp, isConcealed: true, ForeignOTP.address(value)))
        } else if let value = login?["totp"], !value.isNothing {
            entry.losses.append(.member("totp"))
        }
        if let keys = login?["fido2Credentials"]?.elements, !keys.isEmpty { entry.losses.append(.member("passkey")) }
        addOthers(
            of: login, but: ["username", "password", "uris", "uri", "totp", "fido2Credentials", "passwordRevisionDate"],
            to: &entry, in: bytes)
    }

    private func addCard(to entry: inout ForeignEntry, in bytes: Span<UInt8>) {
        let card = item["card"]
        add(card?["number"], "number", .other, isConcealed: true, to: &entry, in: bytes)
        add(card?["cardholderName"], "holder", .other, to: &entry, in: bytes)
        let expires = joined(["expMonth", "expYear"], of: card, by: "/", to: &entry, in: bytes)
        if !expires.isEmpty {
            entry.fields.append(ForeignField("expires", .other, isConcealed: false, ForeignText.value(expires)))
        }
        add(card?["code"], "code", .other, isConcealed: true, to: &entry, in: bytes)
        add(card?["brand"], "brand", .other, to: &entry, in: bytes)
        addOthers(
            of: card, but: ["number", "cardholderName", "expMonth", "expYear", "code", "brand"], to: &entry, in: bytes)
    }

    private func addIdentity(to entry: inout ForeignEntry, in bytes: Span<UInt8>) {
        let identity = item["identity"]
        let nameParts = ["title", "firstName", "middleName", "lastName"]
        let placeParts = ["address1", "address2", "address3", "postalCode", "city", "state", "country"]
        for (name, parts, separator) in [("name", nameParts, " "), ("address", placeParts, "\n")] {
            let text = joined(parts, of: identity, by: separator, to: &entry, in: bytes)
            guard !text.isEmpty else { continue }
            entry.fields.append(ForeignField(name, .other, isConcealed: false, ForeignText.value(text)))
        }
        add(identity?["email"], "", .email, to: &entry, in: bytes)
        add(identity?["phone"], "phone", .other, to: &entry, in: bytes)
        add(identity?["username"], "", .username, to: &entry, in: bytes)
        addOthers(
            of: identity, but: Set(nameParts + placeParts + ["email", "phone", "username"]), to: &entry, in: bytes)
    }

    private func addKey(to entry: inout ForeignEntry, in bytes: Span<UInt8>) {
        let key = item["sshKey"]
        add(key?["privateKey"], "private-key", .other, isConcealed: true, to: &entry, in: bytes)
        add(key?["publicKey"], "public-key", .other, to: &entry, in: bytes)
        addOthers(of: key, but: ["privateKey", "publicKey"], to: &entry, in: bytes)
    }

    /// 0: shown, 1: concealed, 2: a boolean, 3: a link to another field.
    private func add(custom field: JSONRanges, to entry: inout ForeignEntry, in bytes: Span<UInt8>) {
        let name = field["name"]?.text(in: bytes) ?? ""
        guard field["type"]?.number(in: bytes) != 3 else {
            entry.losses.append(.member("linked field \(name)"))
            return
        }
        let isShown = [0, 2].contains(field["type"]?.number(in: bytes) ?? 1)
        let value = field["value"]?.secret(in: bytes)
        if value == nil, let given = field["value"], !given.isNothing { entry.losses.append(.member("field \(name)")) }
        entry.fields.append(ForeignField(name, .other, isConcealed: !isShown, value ?? SecretBytes(copying: [])))
    }
}
