internal import ArgumentParser
internal import OMVault

/// `ITEM`, `ITEM:FIELD` or `ITEM:`, as it is typed.
struct ItemArgument: ExpressibleByArgument {
    static var defaultCompletionKind: CompletionKind { .items }

    let item: String
    let field: String?

    init(argument: String) {
        let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        (item, field) = (parts[0], parts.count == 2 ? parts[1] : nil)
    }

    /// An item for a command that takes no field.
    init(whole text: String) { (item, field) = (text, nil) }

    /// Whether it ends with the colon: the field is ``DefaultField``.
    var meansDefaultField: Bool { field == "" }

    func itemName() throws(Failure) -> ItemName {
        do throws(VaultError) { return try ItemName(item) } catch { throw Failure(error, itemName: item) }
    }

    /// - Throws: ``ExitStatus/usage`` if no field was given.
    func path() throws(Failure) -> FieldPath {
        guard let field else {
            throw Failure(
                .usage, "no field given for \"\(item.shown)\"", hint: "write \(item.shown):FIELD, such as \(item.shown):password")
        }
        let item = try itemName()
        do throws(VaultError) { return FieldPath(item, try FieldName(field)) } catch {
            throw Failure(error, fieldName: field)
        }
    }
}
