internal import ArgumentParser
internal import OMItems
internal import OMRecords
internal import OMSecrets
internal import OMShell
internal import OMVault

/// `NAME=SRC`. It accepts any text, so that ArgumentParser never prints a secret that was typed in the wrong place.
struct FieldArgument: ExpressibleByArgument {
    static var defaultCompletionKind: CompletionKind { .fieldWithSource }

    let name: String?
    let source: SecretSourceArgument

    init(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        name = parts.count == 2 ? parts[0] : nil
        source = SecretSourceArgument(argument: parts.count == 2 ? parts[1] : "")
    }

    func fieldName(of option: String = "--field") throws(Failure) -> FieldName {
        guard let name else {
            throw Failure(
                .usage, "\(option) takes a name and a source, as in password=tty",
                hint: "sources: \(SecretSource.grammar)")
        }
        do throws(VaultError) { return try FieldName(name) } catch { throw Failure(error, vault: nil) }
    }
}
