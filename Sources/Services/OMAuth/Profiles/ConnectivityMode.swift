/// Which way a login is checked: the values of `ConnectivityMode`, and of a request.
public enum ConnectivityMode: String, CaseIterable, Hashable, Sendable {
    /// By the server, and by nothing else.
    case online = "Online"
    /// By the cached credential. No connection is made, unless the limit was exceeded: then the server is asked.
    case offline = "Offline"
    /// By the server, and by the cached credential when it cannot be reached.
    case auto = "Auto"
}
