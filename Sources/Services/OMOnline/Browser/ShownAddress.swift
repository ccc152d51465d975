// Addresses that a person's browser opens. Other programs take them as an argument, and a terminal shows them.

internal import OMOnlineModel

/// An address that can be shown and opened: https, or http within this machine, and only characters that mean nothing to a shell
/// but `&`, `?` and `=`.
struct ShownAddress: Hashable, Sendable {
    let url: EndpointURL
    var text: String { url.text }

    /// Attack: a server names `file:`, `javascript:` or a text that a shell or an option parser takes for something else. Nil
    /// for these.
    init?(_ text: String) {
        guard BrowserStep.hasPlainCharacters(text), let url = try? EndpointURL(text) else { return nil }
        self.url = url
    }
}
