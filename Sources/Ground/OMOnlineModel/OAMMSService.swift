/// `OAMMSAuthentication`: the Mobile and Social service.
public struct OAMMSService: Hashable, Sendable {
    /// `OAMMSURL`: scheme, host and port, and perhaps a path in front of the service's own.
    public let server: String
    /// `OAMMSServiceDomain`
    public let serviceDomain: String
    /// `ApplicationName`
    public let application: String

    public init(_ server: String, serviceDomain: String, application: String) {
        (self.server, self.serviceDomain, self.application) = (server, serviceDomain, application)
    }
}
