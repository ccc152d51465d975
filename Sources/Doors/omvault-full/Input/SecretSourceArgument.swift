internal import ArgumentParser

/// The value of an option that ends in `-from`.
///
///     @Option(help: "Where the password comes from.") var passwordFrom: SecretSourceArgument?
///
/// It accepts any text. If it refused a value, ArgumentParser would print that value, and it may be a secret that was typed
/// in the wrong place. ``SecretSources`` refuses it and does not repeat it.
struct SecretSourceArgument: ExpressibleByArgument, Sendable {
    static let beginnings = ["tty", "lines", "stdin", "fd:", "file:", "env:", "cmd:", "cred:", "pinentry"]
    static var defaultCompletionKind: CompletionKind { .list(beginnings) }

    let source: SecretSource?

    init(argument: String) { source = SecretSource(argument) }
    init(_ source: SecretSource) { self.source = source }
}
