// The part of an application that shows a person the server's own pages: a terminal, a window or a test.

public import OMOnlineModel
public import OMSecrets

/// Shows a person what to do for a login at the server's own pages. It is called on the login's thread.
public protocol BrowserPrompter: Sendable {
    /// Opens or shows the address, or shows the code. The address was checked: https, or http to this machine, at an origin that
    /// the profile allows.
    ///
    /// - Returns: Whether a person can see it. Otherwise the login ends.
    func show(_ step: BrowserStep) -> Bool
    /// Asks for the address to which the browser was sent. Nil if the person gives none. May block.
    func pasted() -> SecretBytes?
}
