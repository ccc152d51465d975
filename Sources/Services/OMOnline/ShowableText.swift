// Texts of a server that a person may see.

enum ShowableText {
    /// Whether the text stays on its line and in its direction.
    ///
    /// Attack: a server's text has characters that move a terminal's cursor or turn the text around.
    static func isOneLine(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
            default: true
            }
        }
    }
}
