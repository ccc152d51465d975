// The age of a password: the time since its last change, whatever else of its item was changed later.

internal import OMItems
internal import OMShell
internal import OMVault

enum PasswordAge {
    /// When the value was changed last, in seconds since 1970. If the item keeps no version from before, the time of its
    /// oldest version.
    static func lastChange(of path: FieldPath, _ item: Item, from access: VaultAccess) throws(Failure) -> Int64 {
        guard item.revision > 1 else { return item.modified }
        guard case .versions(let versions) = try access.perform(.history(path.item)) else { throw .unexpectedReply }
        return try lastChange(of: path.field, in: versions) { old, new throws(Failure) in
            guard case .compared(_, _, let changed) = try access.perform(.compare(path.item, old: old, new: new)) else {
                throw .unexpectedReply
            }
            return changed.contains(path.field)
        } ?? item.modified
    }

    /// - Parameters:
    ///   - versions: The newest first.
    ///   - isChanged: Whether the values of the field differ in two versions that both have it.
    /// - Returns: Nil without a version.
    static func lastChange(
        of field: FieldName, in versions: [ItemVersion],
        isChanged: (_ old: UInt64, _ new: UInt64) throws(Failure) -> Bool
    ) throws(Failure) -> Int64? {
        for (version, before) in zip(versions, versions.dropFirst()) {
            guard before.fields.contains(where: { $0.name == field }), try !isChanged(before.revision, version.revision) else {
                return version.modified
            }
        }
        return versions.last?.modified
    }
}
