// The questions of all connections to an ssh-agent.

/// Asks a person, one question at a time.
///
/// Attack: a machine to which the agent is forwarded asks again and again over new connections, until a tired person says yes. So
/// after a few noes in a row it is refused without a question, until the front ends.
package final class SSHQuestions: Sendable {
    /// How many noes in a row a machine may cause.
    package static let mostRefusals = 3
    /// How many machines are counted. More than a person forwards an agent to.
    private static let mostHosts = 256

    private let ask: @Sendable (SSHQuestion) -> Bool
    /// The noes of each machine since its last yes, by its key. The lock is held while a person is asked.
    private let refusals = Guarded<[[UInt8]: Int]>([:])

    /// - Parameter ask: Asks a person. It can take a minute.
    package init(_ ask: @escaping @Sendable (SSHQuestion) -> Bool) { self.ask = ask }

    func isAllowed(_ question: SSHQuestion) -> Bool {
        refusals.withLock { refusals in
            // A connection of this machine is not counted: its programs could show a question themselves.
            guard let host = question.forwardedTo.first else { return ask(question) }
            let count = refusals[host] ?? 0
            guard count < Self.mostRefusals, count > 0 || refusals.count < Self.mostHosts else { return false }
            let isAllowed = ask(question)
            refusals[host] = isAllowed ? nil : count + 1
            return isAllowed
        }
    }
}
