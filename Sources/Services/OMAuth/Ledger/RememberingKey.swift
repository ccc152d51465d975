public import OMSecrets

/// A key for remembered passwords, in a form that can be handed around.
public final class RememberingKey: Sendable {
    let key: Key<Remembering>

    public init(_ key: consuming Key<Remembering>) { self.key = key }
}
