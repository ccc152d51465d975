/// What a stored thing is.
public enum CredentialItemKind: String, Hashable, Sendable, CaseIterable { case credential, property }
