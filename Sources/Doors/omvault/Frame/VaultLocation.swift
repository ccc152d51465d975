// The name and the file of the vault that a command works on.

internal import OMSystem

/// The vault that a command works on.
struct VaultLocation: Equatable, Sendable {
    /// The name in messages.
    let name: String
    let path: String

    static let defaultName = "personal"

    /// - Parameter given: A path if it has a `/` or ends with `.omv`. Otherwise the name of a vault in `home`.
    /// - Throws: ``ExitStatus/usage`` for an empty name, one that starts with a dot, or one with control characters.
    init(_ given: String?, in home: UserFolders) throws(Failure) {
        let given = given ?? Self.defaultName
        if given.utf8.contains(UInt8(ascii: "/")) || (given.hasSuffix(".omv") && given != ".omv") {
            path = given
            let file = FilePath.names(in: given).last ?? ""
            name = file.hasSuffix(".omv") ? String(file.dropLast(4)) : file
            return
        }
        guard !given.isEmpty, !given.hasPrefix("."), given == given.shown else {
            throw Failure(
                .usage, "\"\(given)\" is not a valid vault name",
                hint: "a name has no control characters and does not start with a dot; a path has a /")
        }
        name = given
        path = "\(home.vaults)/\(given).omv"
    }
}
