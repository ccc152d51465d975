// What a person is asked before a key of SSH is used.

package import OMCrypto
package import OMItems

/// One use of a key, which a person allows or not.
package struct SSHQuestion: Sendable {
    package let item: ItemName
    package let use: SSHSignedData
    /// The program at the other end of the connection.
    package let program: AskingProgram
    /// Whether the connection comes from another machine.
    package let isForwarded: Bool
    /// The keys of the hosts over which the connection comes, the nearest first.
    package let forwardedTo: [[UInt8]]
    /// The key of the host at which the login is. Nil if ssh did not tell.
    package let destination: [UInt8]?
}
