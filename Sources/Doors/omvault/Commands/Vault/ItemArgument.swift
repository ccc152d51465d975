internal import ArgumentParser
internal import OMVault

/// `ITEM` or `ITEM:FIELD`, as it is typed.
struct ItemArgument: ExpressibleByArgument {
    static var defaultCompletionKind: CompletionKind { .items }

    let item: String
    let field: String?

    init(argument: String) {
        let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        (item, field) = (parts[0], parts.count == 2 ? parts[1] : nil)
    }

    /// An item where no field can be named.
    init(whole text: String) { (item, field) = (text, nil) }

    func itemName() throws(Failure) -> ItemName {
        do throws(VaultError) { return try ItemName(item) } catch { throw Failure(error, vault: nil) }
    }

    /// - Throws: ``ExitStatus/usage`` when no field was named.
    func path() throws(Failure) -> FieldPath {
        guard let field else {
            throw Failure(
                .usage, "\"\(item.shown)\" names no field", hint: "name it as \(item.shown):FIELD, such as :password")
        }
        let item = try itemName()
        do throws(VaultError) { return FieldPath(item, try FieldName(field)) } catch {
            throw Failure(error, vault: nil)
        }
    }
}
