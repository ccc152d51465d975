package import OMRecords
package import OMSecrets

/// A question for the access token of the only session under a profile, for a program that cannot read the profile.
/// docs/formats/agent-protocol.md, "Known tokens".
package struct KnownTokenQuestion: Sendable, WireValue {
    /// The folders of the ledger and of the device key.
    package let state: String
    package let device: String
    package let profile: String
    /// What the asker read of the profile.
    package let reading: ProfileReading

    /// - Returns: nil unless the paths are absolute, without a NUL and within 4096 bytes, and the name within 64.
    package init?(state: String, device: String, profile: String, reading: ProfileReading) {
        guard [state, device].allSatisfy(\.isAgentPath), (1...64).contains(profile.utf8.count) else { return nil }
        (self.state, self.device, self.profile, self.reading) = (state, device, profile, reading)
    }

    /// state ‖ device ‖ profile ‖ reading
    package func write(to body: inout SecretBuffer) { body.write(state, device, profile, reading) }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        let (state, device, profile): (String, String, String) = (try wire.read(), try wire.read(), try wire.read())
        guard let made = Self(state: state, device: device, profile: profile, reading: try wire.read()) else {
            throw MalformedBytes()
        }
        self = made
    }
}
