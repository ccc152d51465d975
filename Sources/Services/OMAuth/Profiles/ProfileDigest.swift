// A digest of a profile's effective settings, to detect that the profile has changed.

internal import OMSecrets

/// The digest of a profile's effective settings, including defaults and the administrator's bounds. The profile's name
/// is not part of it.
package struct ProfileDigest: Hashable, Sendable {
    package static let count = 32

    package let bytes: [UInt8]

    /// - Returns: nil unless `bytes` has ``count`` bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.count else { return nil }
        self.bytes = bytes
    }

    fileprivate init(of values: [String: ProfileValue]) {
        let hash = BLAKE2b(count: Self.count)
        hash.update(FlatJSON.encode(values).span)
        var bytes = [UInt8](repeating: 0, count: Self.count)
        var target = bytes.mutableSpan
        hash.finish(into: &target)
        self.bytes = bytes
    }
}

extension Profile {
    package var digest: ProfileDigest {
        ProfileDigest(
            of: Dictionary(
                uniqueKeysWithValues: ProfileKey.allCases.compactMap { key in effective(key).map { (key.rawValue, $0) } }))
    }
}
