// An entry of KeePass's XML while it is read.

internal import OMItems
internal import OMSecrets

/// What the reader has of an entry so far.
struct KeePassEntry {
    var entry = ForeignEntry(title: "")
    /// In base64.
    var id = ""
    /// Attachments by the numbers of their contents.
    var references: [(name: String, content: String)] = []
    /// Whether a field refers to another entry's field.
    var refers = false
    /// Whether a field is part of a one-time password.
    private(set) var hasOneTimePassword = false
    private var losses: Set<ForeignLoss> = []
    private var canExpire = false
    private var end: Int64?

    /// A plug-in's address, and those that KeePassXC adds for its browser extension: `KP2A_URL`, `KP2A_URL_1`.
    static let moreURLs = "KP2A_URL"
    /// The starts of KeePass's placeholders, which stay as text. References are not among them.
    private static let placeholders: [StaticString] = [
        "{TITLE}", "{USERNAME}", "{PASSWORD}", "{URL}", "{URL:", "{NOTES}", "{S:", "{TOTP}", "{TIMEOTP}", "{HMACOTP}", "{CMD:",
        "{DT_", "{T-CONV:", "{T-REPLACE-RX:",
    ]
    /// Where the writer keeps the type.
    static let typeKey = "omvault.type"

    /// - Parameter isConcealed: Whether the file protects the value.
    mutating func add(_ name: String, _ value: consuming SecretBytes, isConcealed: Bool) {
        let hasReference = value.withBytes { KeePassText.contains($0, anyOf: KeePassReferences.start) }
        if hasReference { refers = true }
        if value.withBytes({ KeePassText.contains($0, anyOf: Self.placeholders) }) { lose(.member("placeholder in \(name)")) }
        let role: ForeignField.Role
        switch name {
        case "Title":
            entry.title = value.withBytes { KeePassText.string($0) }
            if hasReference { lose(.member("reference in Title")) }
            return
        case "UserName": role = .username
        case "Password": role = .password
        case "URL": role = .url
        case "Notes": role = .notes
        default: role = name.hasPrefix(Self.moreURLs) ? .url : .other
        }
        // KeePass writes its five fields always.
        if value.count == 0, role != .other { return }
        if role == .other, KeePassOneTimePassword.isPart(name) { hasOneTimePassword = true }
        entry.fields.append(ForeignField(name, role, isConcealed: isConcealed || role == .password, value))
    }

    mutating func add(_ attachment: String, content: consuming SecretBytes) {
        entry.fields.append(ForeignField(attachment, .attachment, isConcealed: true, content))
    }

    mutating func add(customData name: String, _ value: String) {
        switch name {
        case Self.typeKey:
            entry.type = ItemType(rawValue: value)
            if entry.type == nil { lose(.member("CustomData/\(name)")) }
        // KeePassXC's own times of the custom data.
        case "_LAST_MODIFIED", "_CREATED": break
        default: lose(.member("CustomData/\(name)"))
        }
    }

    mutating func add(time name: String, _ text: String) {
        switch name {
        case "CreationTime": entry.created = seconds(name, text)
        case "LastModificationTime": entry.modified = seconds(name, text)
        case "ExpiryTime": end = KeePassTime.seconds(text)
        case "Expires": canExpire = text.lowercased() == "true"
        default: break
        }
    }

    private mutating func seconds(_ name: String, _ text: String) -> Int64? {
        guard let seconds = KeePassTime.seconds(text) else {
            lose(.time(name))
            return nil
        }
        return seconds
    }

    mutating func lose(_ loss: ForeignLoss) {
        if losses.insert(loss).inserted { entry.losses.append(loss) }
    }

    /// - Parameter versions: How many older versions the entry has.
    mutating func finish(versions: Int) {
        if versions > 0 { lose(.olderVersions(versions)) }
        if canExpire {
            entry.expires = end
            if end == nil { lose(.time("ExpiryTime")) }
        }
    }
}
