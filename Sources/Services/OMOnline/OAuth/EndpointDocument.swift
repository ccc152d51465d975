// The document in which a server names its endpoints, fetched without a login. docs/reference/profiles.md, "How old it is".

public import OMOnlineModel

public enum EndpointDocument {
    /// Fetches the endpoints of `service`: from its document, or from the application profile of a Mobile and
    /// Social service. Their addresses are safe; at a login their origin counts too. No request has a password.
    ///
    /// - Parameter signer: Signs with the private key of the service's certificate. Without one no certificate is shown.
    /// - Returns: An empty list if the document names no endpoint.
    /// - Throws: ``OnlineFailure/noService`` for a service without such a document, and every refusal of a login at its
    ///   document.
    public static func fetch(
        _ service: OnlineService, signer: (any IdentitySigner)? = nil
    ) async throws(OnlineRefusal) -> [ServerEndpoint] {
        switch service.kind {
        case .oauth(let oauth) where service.namesEndpoints:
            guard let document = try await DiscoveryDocument.find(oauth, HTTPExchange(service, signer)) else {
                throw .failed(.noService)
            }
            return try document.named()
        case .oamms(let oamms): return try await OAMMSProvider(service, oamms).endpoints()
        case .basic, .oauth, .certificate: throw .failed(.noService)
        }
    }
}
