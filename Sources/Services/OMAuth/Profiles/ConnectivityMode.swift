/// How a login is checked: the values of `ConnectivityMode`, also in a request.
public enum ConnectivityMode: String, CaseIterable, Hashable, Sendable {
    /// By the server only.
    case online = "Online"
    /// By the cached credential. The server is asked only if the limit was exceeded.
    case offline = "Offline"
    /// By the server, or by the cached credential if the server cannot be reached.
    case auto = "Auto"
}
