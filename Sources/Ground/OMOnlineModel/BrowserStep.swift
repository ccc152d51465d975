/// What a login at the server's own pages asks of the person.
public enum BrowserStep: Hashable, Sendable {
    /// To open the address in a browser on this machine. The browser brings the answer.
    case open(String)
    /// To open `address` in any browser, and to type the code there. `whole` is the address with the code in it, if the server
    /// has one. The code counts for `seconds`.
    case enter(code: String, address: String, whole: String?, seconds: UInt32)
}

extension BrowserStep {
    /// The most characters of a code.
    package static let longestCode = 64

    /// Whether the address has only characters that mean nothing to a shell but `&`, `?` and `=`. Other programs take it as an
    /// argument, and a terminal shows it.
    package static func hasPlainCharacters(_ address: String) -> Bool {
        let allowed = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/?[]@&+,=%".utf8)
        return address.utf8.allSatisfy(allowed.contains)
    }

    /// Whether a person can read and type the code: printable ASCII on one line.
    package static func isCode(_ text: String) -> Bool {
        (1...longestCode).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }
}
