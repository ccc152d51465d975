// The places of an entry's one-time passwords in KeePass.

internal import OMCrypto
internal import OMSecrets

/// The one-time passwords of an entry that KeePass has names for.
struct KeePassOneTimeChoice {
    /// The first password of the entry that is timed. It becomes `otp`, which programs read as timed.
    private(set) var timed: ForeignField?
    /// The first counter-based one with the settings that KeePass has, and the fields that it becomes.
    private(set) var counted: (field: ForeignField, fields: [ForeignField])?
    /// The names that no other field of the entry can have.
    private(set) var names: [String] = []

    init(of entry: ForeignEntry) {
        for field in entry.fields where field.role == .otp && field.isText {
            if names.isEmpty { names.append(KeePassOneTimePassword.uri) }
            guard field.value.withBytes({ KeePassText.contains($0, anyOf: ["://HOTP/"]) }) else {
                timed = timed ?? field
                continue
            }
            guard counted == nil, let fields = Self.fields(of: field.value) else { continue }
            counted = (field, fields)
            names += fields.map(\.name)
        }
    }

    /// KeePass has counters with 6 digits and SHA-1 only.
    private static func fields(of address: borrowing SecretBytes) -> [ForeignField]? {
        guard let uri = try? OTPAuthURI(reading: address), case .counter(let counter) = uri.password.factor,
            uri.password.digits == 6, uri.password.hash == .sha1
        else { return nil }
        let secret = Base32.encode(uri.password.secret)
        return [
            ForeignField(KeePassOneTimePassword.counterSecret + "-Base32", .other, isConcealed: true, secret),
            ForeignField(
                KeePassOneTimePassword.counter, .other, isConcealed: true, SecretBytes(copying: Array("\(counter)".utf8))),
        ]
    }
}
