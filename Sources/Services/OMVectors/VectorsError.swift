/// Why a run could not start.
public enum VectorsError: Error, Hashable, Sendable {
    /// Nothing exists at this path, or this process may not read it.
    case unreadable(path: String)
    /// A policy file does not have its required form.
    case policy(reason: String)
}
