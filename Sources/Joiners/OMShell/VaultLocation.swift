// The name and the file of the vault that a command works on.

internal import OMSystem

/// The vault that a command works on.
package struct VaultLocation: Equatable, Sendable {
    /// The name in messages.
    package let name: String
    package let path: String

    /// - Parameter given: A path if it has a `/` or ends with `.omv`. Otherwise the name of a vault in `home`. Nil for the
    ///   default vault.
    /// - Throws: ``ExitStatus/usage`` for an empty name, one that starts with a dot, or one with control characters; the errors
    ///   of ``DefaultVault/name()``.
    package init(_ given: String?, in home: UserFolders) throws(Failure) {
        let given = if let given { given } else { try DefaultVault(home).name() }
        if Self.isPath(given) {
            path = given
            let file = FilePath.names(in: given).last ?? ""
            name = file.hasSuffix(".omv") ? String(file.dropLast(4)) : file
            return
        }
        guard Self.isName(given) else {
            throw Failure(
                .usage, "\"\(given)\" is not a valid vault name",
                hint: "a name has no control characters and does not start with a dot; a path has a /")
        }
        name = given
        path = "\(home.vaults)/\(given).omv"
    }

    private static func isPath(_ given: String) -> Bool {
        given.utf8.contains(UInt8(ascii: "/")) || (given.hasSuffix(".omv") && given != ".omv")
    }

    /// Whether `given` can be the name of a vault in the user's folder.
    package static func isName(_ given: String) -> Bool {
        !given.isEmpty && !given.hasPrefix(".") && given == given.shown && !isPath(given)
    }
}
