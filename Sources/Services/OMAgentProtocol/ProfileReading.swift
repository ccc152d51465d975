package import OMRecords
package import OMSecrets

/// What a program read of a profile: a digest of the profile's file and of the administrator's bounds. None of it is secret.
package struct ProfileReading: Hashable, Sendable, WireValue {
    private static let count = 32

    private let digest: [UInt8]

    /// - Parameters:
    ///   - profile: The bytes of the profile's file.
    ///   - bounds: Those of the administrator's file. Nil if there is none.
    package init(profile: [UInt8], bounds: [UInt8]?) {
        let length = withUnsafeBytes(of: UInt64(profile.count).bigEndian) { [UInt8]($0) }
        digest = PublicHash.hash(length + profile + [bounds == nil ? 0 : 1] + (bounds ?? []))
    }

    package func write(to body: inout SecretBuffer) { body.append(digest.span) }

    package init(from wire: inout WireReader) throws(MalformedBytes) { digest = try wire.bytes(Self.count) }
}
