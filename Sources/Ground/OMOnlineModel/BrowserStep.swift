/// What a login at the server's own pages asks of the person.
public enum BrowserStep: Hashable, Sendable {
    /// To open the address in a browser on this machine. The browser brings the answer.
    case open(String)
    /// To open `address` in any browser, and to type the code there. `whole` is the address with the code in it, if the server
    /// has one. The code counts for `seconds`.
    case enter(code: String, address: String, whole: String?, seconds: UInt32)
}
