internal import ArgumentParser
internal import OMShell

/// The value of an option for a key: a source of secrets, or a reference into a vault. Like a source it accepts any
/// text. So ArgumentParser never prints a secret that was typed in the wrong place.
struct KeySourceArgument: ExpressibleByArgument, Sendable {
    let source: SecretSourceArgument
    let reference: ValueReference?

    init(argument: String) {
        reference = ValueReference.key(argument)
        // Any other text must be a source. An `om://` that names no item is not a source either.
        source = reference == nil ? SecretSourceArgument(argument: argument) : SecretSourceArgument(.tty)
    }
}
