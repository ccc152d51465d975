/// What an item is for. A type allows and forbids no field.
///
/// The raw value is the type's name. `code` is its number in the content of a record, and 0 means no type.
public enum ItemType: String, Hashable, Sendable, CaseIterable {
    case login, note
    case apiKey = "api-key"
    case sshKey = "ssh-key"
    case certificate, card, totp, file, database, identity, custom

    package var code: UInt8 { UInt8(Self.allCases.firstIndex(of: self).map { $0 + 1 } ?? 0) }

    /// The field with the secret that the item is kept for. Nil for a type with several such fields, or with any.
    public var mainField: String? {
        switch self {
        case .login, .database: "password"
        case .note: "notes"
        case .apiKey: "key"
        case .sshKey, .certificate, .card, .totp, .file, .identity, .custom: nil
        }
    }

    /// The names that the fields of such an item usually have, the most important first.
    public var usualFields: [String] {
        switch self {
        case .login: ["password", "username", "url"]
        case .note: ["notes"]
        case .apiKey: ["key", "username", "url"]
        case .sshKey: ["private-key", "public-key", "passphrase"]
        case .certificate: ["private-key", "certificate", "chain"]
        case .card: ["number", "holder", "expires", "code", "pin"]
        case .totp: ["otp"]
        case .file: ["content"]
        case .database: ["password", "username", "host", "port"]
        case .identity: ["name", "email", "phone", "address"]
        case .custom: []
        }
    }

    /// Whether a new field of this name is shown, unless its owner says otherwise. Fields of a custom item never are.
    public func shows(_ field: FieldName) -> Bool {
        self != .custom && ["username", "url", "email", "host", "port"].contains(field.text)
    }

    package init?(code: UInt8) {
        guard (1...Self.allCases.count).contains(Int(code)) else { return nil }
        self = Self.allCases[Int(code) - 1]
    }
}
