// What a server gave, with its age, for a report. docs/formats/login-format.md, "What a server gave, and when".

package import OMOnlineModel

/// What this device knows from a profile's server, and how old it is.
package struct ServerDocument: Hashable, Sendable {
    /// Nil if none is known.
    package var policy: ServerPolicy?
    /// Seconds since the server gave the policy, by this machine's clock. Nil if unknown.
    package var policyAge: Int64?
    /// The endpoints that the server named at the last `profile refresh`.
    package var endpoints: [ServerEndpoint] = []
    /// Seconds since then. Nil if unknown.
    package var endpointsAge: Int64?

    package init() {}
}
