internal import ArgumentParser
internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMVault

/// `NAME=TEXT`, a field that everyone may see.
struct PlainFieldArgument: ExpressibleByArgument {
    static var defaultCompletionKind: CompletionKind { .fieldBeforeText }

    let name: String
    let text: String

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { return nil }
        (name, text) = (parts[0], parts[1])
    }

    func fieldName() throws(Failure) -> FieldName {
        do throws(VaultError) { return try FieldName(name) } catch { throw Failure(error, vault: nil) }
    }

    var value: SecretBytes { SecretBytes(copying: Array(text.utf8)) }
}
