internal import ArgumentParser
internal import OMItems
internal import OMShell
internal import OMVault

/// A tag. It is checked when it is used, so that the error is omvault's own.
struct TagArgument: ExpressibleByArgument {
    static var defaultCompletionKind: CompletionKind { .tags }

    let text: String

    init(argument: String) { text = argument }

    func tag() throws(Failure) -> ItemTag {
        do throws(VaultError) { return try ItemTag(text) } catch { throw Failure(error, vault: nil) }
    }
}
