// What client and agent say to each other, in one place. Format: docs/agent-protocol.md.

package enum AgentProtocol {
    /// Rises with every change that the other end would misread.
    package static let version: UInt8 = 1

    static let magic: [UInt8] = [0x4F, 0x41]
    /// magic (2) ‖ version (1) ‖ kind (1) ‖ count of the body (4)
    static let headCount = 8
    /// A request: the largest item and all that stands around it.
    static let maximumBody = 17 << 20
    /// An answer: a list of a great many items.
    static let maximumAnswer = 256 << 20

    /// Different vaults that one agent serves until it ends.
    package static let maximumVaults = 256
    /// Connections that are served at once.
    static let maximumClients = 64
    /// A frame that has begun must be whole after so many milliseconds; so must the first one of a connection.
    static let frameTime = 5_000
    /// How long a connection may rest between frames.
    static let restTime = 30_000
    /// How long a client waits for an answer: longer than the longest wait for a vault's lock.
    static let answerTime = 90_000
    /// How long a client tries again while the agent is busy.
    static let busyTime = 8_000
}
