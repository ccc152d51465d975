public import OMSecrets

/// A key for remembered passwords, as a class that callers can share.
public final class RememberingKey: Sendable {
    let key: Key<Remembering>

    public init(_ key: consuming Key<Remembering>) { self.key = key }
}
