/// What a client asks an OAuth server about its own registration (RFC 7591, RFC 7592).
public enum ClientStep: Hashable, Sendable {
    /// Registers a client.
    ///
    /// - Parameter at: The address, if the server's document does not name one.
    case register(ClientMetadata, at: String?)
    /// Reads what the server keeps.
    case read(at: String)
    /// Replaces what the server keeps.
    case update(ClientMetadata, id: String, at: String)
    /// Ends the registration.
    case remove(at: String)

    /// The address that the profile or the registration names.
    package var address: String? {
        switch self {
        case .register(_, let address): address
        case .read(let address), .update(_, _, let address), .remove(let address): address
        }
    }
}
