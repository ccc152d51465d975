internal import OMAuth

/// What a prompt asks for, as far as its words say it.
///
/// Attack: a server chooses the words of a prompt, and asks for the passphrase of a key. So only the exact words of git and ssh
/// find an item. ssh puts the user and the host before the words of a server.
enum AskedPrompt: Equatable {
    case userName(ServerURL)
    case password(ServerURL, user: String?)
    /// Of the key in this file. ssh-add writes the path as the user typed it.
    case passphrase(String)
    /// A password or a passphrase of something that is not named.
    case anyPassword
    /// Anything else, such as a question about a host's key.
    case other

    init(_ prompt: String) {
        self = Self.git(prompt) ?? Self.key(prompt) ?? (Self.isOfPassword(prompt) ? .anyPassword : .other)
    }

    private static func git(_ prompt: String) -> AskedPrompt? {
        if let text = inside(prompt, "Username for '", "': ") { return ServerURL(text).map { .userName($0) } ?? .other }
        guard let text = inside(prompt, "Password for '", "': ") else { return nil }
        guard let scheme = ["https://", "http://"].first(where: text.hasPrefix) else { return .other }
        let rest = text.dropFirst(scheme.count)
        // In the authority, the user ends at the last @.
        let authority = rest.prefix { $0 != "/" }
        guard let end = authority.lastIndex(of: "@") else { return ServerURL(text).map { .password($0, user: nil) } ?? .other }
        guard let server = ServerURL(scheme + rest[rest.index(after: end)...]),
            let user = PercentEncoding.decode(String(rest[..<end]))
        else {
            return .other
        }
        return .password(server, user: user)
    }

    private static func key(_ prompt: String) -> AskedPrompt? {
        let found =
            inside(prompt, "Enter passphrase for key '", "': ") ?? inside(prompt, "Enter passphrase for \"", "\": ")
            ?? inside(prompt, "Enter passphrase for ", ": ")
        return found.map { .passphrase($0) }
    }

    private static func isOfPassword(_ prompt: String) -> Bool {
        let words = prompt.lowercased()
        return (words.contains("password") || words.contains("passphrase"))
            // ssh asks again after a wrong one, with other words. The same answer would be wrong for ever.
            && !words.hasPrefix("bad passphrase") && !words.contains("yes/no")
    }

    private static func inside(_ prompt: String, _ start: String, _ end: String) -> String? {
        guard prompt.hasPrefix(start), prompt.hasSuffix(end), prompt.utf8.count > start.utf8.count + end.utf8.count else {
            return nil
        }
        return String(prompt.dropFirst(start.count).dropLast(end.count))
    }
}
