/// Bytes that do not follow their format.
public struct MalformedBytes: Error, Hashable, Sendable {
    public init() {}
}
