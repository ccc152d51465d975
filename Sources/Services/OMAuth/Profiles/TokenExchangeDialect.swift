/// `TokenExchangeDialect`: how the server takes a token to exchange.
public enum TokenExchangeDialect: String, CaseIterable, Hashable, Sendable {
    case rfc8693
    /// Oracle Mobile Cloud Service. No such server can be asked by this version.
    case mcs
}
