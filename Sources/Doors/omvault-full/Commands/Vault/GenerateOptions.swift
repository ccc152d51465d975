internal import ArgumentParser
internal import OMCrypto
internal import OMSecrets

/// `--generate` and the options of `omvault gen` behind it.
struct GenerateOptions: ParsableArguments {
    @Flag(help: "Make the secret; the options of 'omvault gen' say how.")
    var generate = false

    @OptionGroup var password: PasswordOptions

    func validate() throws {
        let isDefault =
            password.length == nil && password.chars == nil && password.words == nil && password.wordlist == nil
            && password.separator == nil && !password.pronounceable && password.entropy == nil
        if !generate, !isDefault { throw ValidationError("options for a generated secret need --generate") }
    }

    /// A new secret. The notice says how hard it is to guess.
    func secret(_ context: CommandContext) throws -> SecretBytes {
        let recipe = try password.recipe()
        context.output.notice("made a secret of \(GenCommand.text(recipe.entropy)) bits of entropy")
        return recipe.password()
    }
}
