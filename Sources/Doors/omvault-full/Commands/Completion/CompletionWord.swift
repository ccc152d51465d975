/// A word that a shell offers, and what it means.
struct CompletionWord: Equatable {
    let text: String
    var about: String?

    /// Whether the word goes on as the user began. The quote in front of an item's name need not be typed.
    func fits(_ typed: String) -> Bool {
        text.hasPrefix(typed) || text.first == "\"" && text.dropFirst().hasPrefix(typed)
    }
}
