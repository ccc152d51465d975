internal import ArgumentParser

/// The value of an option that ends in `-from`, as ArgumentParser hands it over.
///
///     @Option(help: "Where the password comes from.") var passwordFrom: SecretSourceArgument?
///
/// It takes anything: were it to refuse a value, ArgumentParser would print that value, and it may be the secret itself,
/// typed in the wrong place. ``SecretSources`` refuses it without a word of it.
struct SecretSourceArgument: ExpressibleByArgument, Sendable {
    static var defaultCompletionKind: CompletionKind {
        .list(["tty", "stdin", "fd:", "file:", "env:", "cmd:", "cred:"])
    }

    let source: SecretSource?

    init(argument: String) { source = SecretSource(argument) }
    init(_ source: SecretSource) { self.source = source }
}
