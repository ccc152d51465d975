internal import CWords
internal import OMCrypto
internal import OMSecrets

/// The value of `--wordlist`: the built-in list of the EFF, or a file.
enum WordListFile {
    static let builtIn = "eff"

    static func read(_ name: String) throws -> WordList {
        guard name == builtIn else {
            let text = try InputFile(name).readWhole(maximum: 4 << 20, hint: "shorten the word list")
            return try text.withBytes { try WordList($0) }
        }
        var count = 0
        let text = omv_eff_words(&count)
        return try WordList(UnsafeBufferPointer(start: text, count: count).span)
    }
}
