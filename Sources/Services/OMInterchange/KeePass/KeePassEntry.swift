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
    private var losses: Set<ForeignLoss> = []
    private var hasOneTimePassword = false
    private var canExpire = false
    private var end: Int64?

    /// A plug-in's address, and those that KeePassXC adds for its browser extension: `KP2A_URL`, `KP2A_URL_1`.
    static let moreURLs = "KP2A_URL"
    /// Where the writer keeps the type.
    static let typeKey = "omvault.type"

    /// - Parameter isConcealed: Whether the file protects the value.
    mutating func add(_ name: String, _ value: consuming SecretBytes, isConcealed: Bool) {
        value.withBytes { if KeePassText.contains($0, "{REF:") { refers = true } }
        let role: ForeignField.Role
        switch name {
        case "Title":
            entry.title = value.withBytes { KeePassText.string($0) }
            if refers { lose(.member("reference in Title")) }
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
        case Self.typeKey: entry.type = ItemType(rawValue: value)
        // KeePassXC's own notes of the last change, and where an entry of the trash was.
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
        if hasOneTimePassword { KeePassOneTimePassword.fit(&entry) }
    }
}
