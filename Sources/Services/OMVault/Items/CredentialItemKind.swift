/// Whether an item of the SDK's store is a credential or a property.
public enum CredentialItemKind: String, Hashable, Sendable, CaseIterable { case credential, property }
