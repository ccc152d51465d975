// What a person is asked before a key of SSH is used.

internal import Glibc
package import OMCrypto
package import OMItems

/// One use of a key, which a person allows or not.
package struct SSHQuestion: Sendable {
    package let item: ItemName
    package let use: SSHSignedData
    /// The program at the other end of the connection.
    package let program: AskingProgram
    /// The descriptor of the connection.
    package let connection: Int32
    /// Whether the connection comes from another machine.
    package let isForwarded: Bool
    /// The keys of the hosts over which the connection comes, the nearest first.
    package let forwardingHosts: [[UInt8]]
    /// The key of the host at which the login is. Nil if it is not proven.
    package let destination: [UInt8]?

    /// Whether the program has closed the connection, so that an answer has no effect.
    package var isAbandoned: Bool {
        var waiting = pollfd(fd: connection, events: 0, revents: 0)
        return poll(&waiting, 1, 0) > 0
    }
}
