// The constants of the protocol between client and agent. Format: docs/formats/agent-protocol.md.

package enum AgentProtocol {
    /// Rises with every change that the other end would misread.
    package static let version: UInt8 = 2

    static let magic: [UInt8] = [0x4F, 0x41]
    /// magic (2) ‖ version (1) ‖ kind (1) ‖ count of the body (4)
    static let headCount = 8
    /// A request: the largest item and everything around it.
    static let maximumBody = 17 << 20
    /// An answer: a list of very many items.
    static let maximumAnswer = 256 << 20

    /// How many different vaults one agent serves until it ends.
    package static let maximumVaults = 256
    /// How many connections are served at once.
    static let maximumClients = 64
    /// How many received descriptors all connections together hold.
    static let maximumDescriptors = 256
    /// A frame that has begun must be complete after this many milliseconds. The first frame must also begin in this time.
    static let frameTime = 5_000
    /// How long a connection may be silent between frames.
    static let restTime = 30_000
    /// How long a client waits for an answer. It is longer than the longest wait for a vault's lock.
    static let answerTime = 90_000
    /// How long a client tries again while the agent is busy.
    static let busyTime = 8_000
}
