/// Why a run could not start.
public enum VectorsError: Error, Hashable, Sendable {
    /// There is nothing at this path, or it may not be read.
    case unreadable(path: String)
    /// A policy file is not of its form.
    case policy(reason: String)
}
