internal import ArgumentParser
internal import OMCrypto

/// The options that say what password to make, and the recipe behind them.
struct PasswordOptions: ParsableArguments {
    @Option(
        parsing: .unconditional, help: ArgumentHelp("How many characters. With --pronounceable: letters.", valueName: "number"))
    var length: Int?

    @Option(help: ArgumentHelp("The characters to choose from, with ranges, such as a-z0-9.", valueName: "characters"))
    var chars: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("A passphrase of so many words.", valueName: "number"))
    var words: Int?

    @Option(
        help: ArgumentHelp("The words: eff, or a file with a word a line.", valueName: "eff|file"), completion: .file())
    var wordlist: String?

    @Option(help: ArgumentHelp("The text between words.", valueName: "text"))
    var separator: String?

    @Flag(help: "Letters that can be read aloud.")
    var pronounceable = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("As long as it takes for so much entropy, instead of a length.", valueName: "bits"))
    var entropy: Int?

    /// What the password is made of.
    enum Kind: String { case characters, words, pronounceable }

    var kind: Kind { pronounceable ? .pronounceable : words != nil || wordlist != nil ? .words : .characters }

    func validate() throws {
        let hasWords = words != nil || wordlist != nil
        if [chars != nil, hasWords, pronounceable].count(where: \.self) > 1 {
            throw ValidationError("--chars, --words (or --wordlist) and --pronounceable are different passwords; give only one")
        }
        if separator != nil, !hasWords { throw ValidationError("--separator is for a passphrase: give --words too") }
        if length != nil, hasWords { throw ValidationError("--length is for characters; a passphrase has --words") }
        if entropy != nil, length != nil || words != nil {
            throw ValidationError("--entropy chooses the length: give it without --length and --words")
        }
        if let entropy, !(1...1024).contains(entropy) { throw ValidationError("--entropy takes 1 to 1024 bits") }
    }

    func recipe() throws -> any PasswordRecipe {
        let bits = entropy.map(Double.init)
        switch kind {
        case .characters:
            let characters = try chars.map { text throws(PasswordRecipeError) in try PasswordCharacters(text) } ?? .standard
            if let bits { return try CharacterRecipe(characters, reaching: bits) }
            return try CharacterRecipe(characters, length: length ?? 20)
        case .words:
            let list = try WordListFile.read(wordlist ?? WordListFile.builtIn)
            if let bits { return try WordRecipe(list, reaching: bits, separator: separator ?? "-") }
            return try WordRecipe(list, count: words ?? 6, separator: separator ?? "-")
        case .pronounceable:
            if let bits { return try PronounceableRecipe(reaching: bits) }
            return try PronounceableRecipe(length: length ?? 24)
        }
    }
}
