// What a login at the server's own pages asks of the program that talks to the person.

public import OMOnlineModel
public import OMSecrets

/// The person's side of a login at the server's own pages.
public protocol BrowserConversation: Sendable {
    /// Shows the person what to do.
    func show(_ step: BrowserStep) async throws(OnlineRefusal)
    /// The address that the person pasted from the browser. Nil where none is taken. It waits until there is one, or until the
    /// task is cancelled. After a pasted text that is no answer it is called again.
    func pasted() async throws(OnlineRefusal) -> SecretBytes?
    /// Called once the person has nothing more to do. From here on only the server's deadlines count.
    func hasFinished()
    /// Whether the caller has gone, so that the tokens would be lost.
    var isGone: Bool { get }
}
