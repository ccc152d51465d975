package enum ChannelError: Error, Hashable {
    /// The other end closed the connection, or broke it.
    case ended
    case deadline
    /// The head does not follow the protocol, or announces more than is allowed.
    case malformed
    /// Descriptors came with the frame, and this process has no room for them now.
    case noDescriptors
}
