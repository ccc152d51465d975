// One-time passwords as other programs store them.

internal import OMCrypto
package import OMSecrets

package enum ForeignOTP {
    /// The `otpauth` address of a bare secret in base32. Everything else stays as it is: `omvault otp` says what it cannot read.
    package static func address(_ value: consuming SecretBytes) -> SecretBytes {
        let read: SecretBytes?
        do throws(OneTimePasswordError) { read = try OTPAuthURI(readingURIOrSecret: value).text() } catch { read = nil }
        let hasColon = value.withBytes { bytes in bytes.indices.contains { bytes[$0] == UInt8(ascii: ":") } }
        guard !hasColon, let read else { return value }
        return read
    }
}
