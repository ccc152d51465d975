internal import ArgumentParser

/// The value of an option that takes a key: a source of secrets, or a reference into a vault. Like a source it takes
/// anything, so that ArgumentParser never prints a secret typed in the wrong place.
struct KeySourceArgument: ExpressibleByArgument, Sendable {
    let source: SecretSourceArgument
    let reference: ItemURI?

    init(argument: String) {
        reference = ItemURI(argument)
        // What is no reference must be a source; an `om://` that names no item is neither.
        source = reference == nil ? SecretSourceArgument(argument: argument) : SecretSourceArgument(.tty)
    }
}
