// The constants of the protocol between client and agent. Format: docs/formats/agent-protocol.md.

package enum AgentProtocol {
    /// Rises with every change that the other end would misread.
    package static let version: UInt8 = 2

    package static let magic: [UInt8] = [0x4F, 0x41]
    /// magic (2) ‖ version (1) ‖ kind (1) ‖ count of the body (4)
    package static let headCount = 8
    /// A request: the largest item and everything around it.
    package static let maximumBody = 17 << 20
    /// An answer: a list of very many items.
    package static let maximumAnswer = 256 << 20

    /// How many different vaults one agent serves until it ends.
    package static let maximumVaults = 256
    /// How many connections are served at once.
    package static let maximumClients = 64
    /// How many received descriptors all connections together hold.
    package static let maximumDescriptors = 256
    /// A frame that has begun must be complete after this many milliseconds. The first frame must also begin in this time.
    package static let frameTime = 5_000
    /// How long a connection may be silent between frames.
    package static let restTime = 30_000
    /// How long a client waits for an answer. It is longer than the longest wait for a vault's lock.
    package static let answerTime = 90_000
    /// How long a client tries again while the agent is busy.
    package static let busyTime = 8_000
}
