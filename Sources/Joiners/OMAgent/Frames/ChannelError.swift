enum ChannelError: Error, Hashable {
    /// The other end closed the connection, or broke it.
    case ended
    case deadline
    /// The head is none of ours, or announces more than is allowed.
    case malformed
}
