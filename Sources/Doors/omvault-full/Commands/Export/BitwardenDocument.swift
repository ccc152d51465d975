// Bitwarden's JSON export in clear, as Bitwarden and Vaultwarden import it.

internal import OMInterchange
internal import OMItems
internal import OMSecrets
internal import OMShell

/// What becomes of entries in Bitwarden's JSON.
enum BitwardenDocument {
    /// The numbers of Bitwarden's types.
    private enum Kind: Int { case login = 1, note, card, identity }

    static func document(_ entries: [ForeignEntry]) -> JSONDocument {
        var folders: [(path: String, id: String)] = []
        var ids: [String: String] = [:]
        for entry in entries where !entry.folders.isEmpty {
            let path = entry.folders.joined(separator: "/")
            guard ids[path] == nil else { continue }
            let id = Identifier.random()
            ids[path] = id
            folders.append((path, id))
        }
        var document = JSONDocument(schema: nil)
        document.field("encrypted", .flag(false))
        document.objects("folders", folders) { folder, object in
            object.field("id", .text(folder.id))
            object.field("name", .text(folder.path))
        }
        document.objects("items", entries) { entry, object in
            write(entry, folder: ids[entry.folders.joined(separator: "/")], to: &object)
        }
        return document
    }

    /// What Bitwarden has no place for.
    static func losses(of entry: ForeignEntry) -> [ForeignLoss] {
        var losses = entry.fields.filter { $0.role == .attachment }.map { ForeignLoss.attachment($0.name) }
        losses += entry.tags.filter { $0 != favorite }.map { .member("the tag \"\($0)\"") }
        if let type = entry.type, ![.login, .note, .card, .identity].contains(type) {
            losses.append(.member("the type \(type.rawValue)"))
        }
        if entry.expires != nil { losses.append(.time("expires")) }
        return losses
    }

    private static let favorite = "favorite"

    private static func write(_ entry: ForeignEntry, folder: String?, to object: inout JSONDocument) {
        let kind = kind(of: entry)
        object.field("id", .text(Identifier.random()))
        object.field("organizationId", .null)
        object.field("folderId", folder.map { .text($0) } ?? .null)
        object.field("collectionIds", .null)
        object.field("type", .number(kind.rawValue))
        object.field("reprompt", .number(0))
        object.field("name", .text(entry.title))
        object.field("favorite", .flag(entry.tags.contains(favorite)))
        if let created = entry.created { object.field("creationDate", .time(created)) }
        if let modified = entry.modified { object.field("revisionDate", .time(modified)) }
        object.field("deletedDate", .null)
        var rest = Rest(entry.fields.filter { $0.role != .attachment })
        rest.write(rest.take(.notes), as: "notes", to: &object)
        switch kind {
        case .login: writeLogin(&rest, to: &object)
        case .note: object.object("secureNote") { note in note.field("type", .number(0)) }
        case .card: writeCard(&rest, to: &object)
        case .identity: writeIdentity(&rest, to: &object)
        }
        object.objects("fields", rest.fields) { field, object in
            object.field("name", .text(field.name))
            object.secret("value", field.value)
            // 0 is shown, 1 is hidden.
            object.field("type", .number(field.isConcealed ? 1 : 0))
        }
    }

    private static func kind(of entry: ForeignEntry) -> Kind {
        switch entry.type {
        case .note: .note
        case .card: .card
        case .identity: .identity
        case .login: .login
        default: entry.fields.contains { [.username, .password, .url, .otp].contains($0.role) } ? .login : .note
        }
    }

    private static func writeLogin(_ rest: inout Rest, to object: inout JSONDocument) {
        object.object("login") { login in
            rest.write(rest.take(.username), as: "username", to: &login)
            rest.write(rest.take(.password), as: "password", to: &login)
            rest.write(rest.take(.otp), as: "totp", to: &login)
            login.objects("uris", rest.takeAll(.url)) { field, uri in
                uri.field("match", .null)
                uri.secret("uri", field.value)
            }
        }
    }

    private static func writeCard(_ rest: inout Rest, to object: inout JSONDocument) {
        object.object("card") { card in
            rest.write(rest.take("number"), as: "number", to: &card)
            rest.write(rest.take("holder"), as: "cardholderName", to: &card)
            rest.write(rest.take("brand"), as: "brand", to: &card)
            rest.write(rest.take("code"), as: "code", to: &card)
        }
    }

    private static func writeIdentity(_ rest: inout Rest, to object: inout JSONDocument) {
        object.object("identity") { identity in
            // Bitwarden has parts of a name and of an address; which is which omvault does not know.
            rest.write(rest.take("name"), as: "firstName", to: &identity)
            rest.write(rest.take("address"), as: "address1", to: &identity)
            rest.write(rest.take(.email), as: "email", to: &identity)
            rest.write(rest.take("phone"), as: "phone", to: &identity)
            rest.write(rest.take(.username), as: "username", to: &identity)
        }
    }
}

/// The fields of an entry that have no place yet. What stays here becomes a custom field, so nothing is forgotten.
private struct Rest {
    private(set) var fields: [ForeignField]

    init(_ fields: [ForeignField]) { self.fields = fields }

    mutating func take(_ role: ForeignField.Role) -> ForeignField? {
        fields.firstIndex { $0.role == role }.map { fields.remove(at: $0) }
    }

    mutating func takeAll(_ role: ForeignField.Role) -> [ForeignField] {
        let taken = fields.filter { $0.role == role }
        fields.removeAll { $0.role == role }
        return taken
    }

    mutating func take(_ name: String) -> ForeignField? {
        fields.firstIndex { $0.role == .other && $0.name == name }.map { fields.remove(at: $0) }
    }

    func write(_ field: ForeignField?, as name: String, to object: inout JSONDocument) {
        guard let field else { return object.field(name, .null) }
        object.secret(name, field.value)
    }
}
