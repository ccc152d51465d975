/// Bytes that do not follow their format.
package struct MalformedBytes: Error, Hashable, Sendable {
    package init() {}
}
