/// What an identity's key signs. Each kind begins with other bytes than the others, and none is a text that another party chose.
package enum IdentityUse: Hashable, Sendable {
    /// - Parameter algorithms: Those of which the key takes one, as for ``ClientAssertion/algorithm(for:of:)``.
    case assertion(clientID: String, audience: String, algorithms: UInt8 = 31)
    /// A TLS 1.3 handshake: the text, which the caller has checked, and the scheme's number.
    case handshake(text: [UInt8], scheme: UInt16)
}
