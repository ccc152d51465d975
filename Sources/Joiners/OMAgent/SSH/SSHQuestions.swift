// The questions of all connections to an ssh-agent.

/// Asks a person, one question at a time.
///
/// Attack: a machine to which the agent is forwarded asks again and again over new connections, until a tired person says yes. So
/// after a few noes in a row it is refused without a question, until the front ends.
package final class SSHQuestions: Sendable {
    /// How many noes in a row a machine may cause.
    package static let mostRefusals = 3
    /// How many questions since its last yes a machine may leave before their answer.
    private static let mostAbandoned = 16
    /// How many machines are counted. More than a person forwards an agent to.
    private static let mostHosts = 256

    private struct Count {
        var (refusals, abandoned) = (0, 0)
    }

    private let ask: @Sendable (SSHQuestion) -> Bool?
    /// Of each machine since its last yes, by its key. The lock is held while a person is asked.
    private let counts = Guarded<[[UInt8]: Count]>([:])

    /// - Parameter ask: Asks a person. It can take a minute. Nil: the program has gone before the answer.
    package init(_ ask: @escaping @Sendable (SSHQuestion) -> Bool?) { self.ask = ask }

    func isAllowed(_ question: SSHQuestion) -> Bool {
        counts.withLock { counts in
            // It may have gone while another question was shown.
            guard !question.isAbandoned else { return false }
            // A connection of this machine is not counted: its programs could show a question themselves.
            guard question.isForwarded else { return ask(question) == true }
            // All machines that ssh did not name count as one.
            let host = question.forwardingHosts.first ?? []
            guard counts[host] != nil || counts.count < Self.mostHosts else { return false }
            var count = counts[host] ?? Count()
            guard count.refusals < Self.mostRefusals, count.abandoned < Self.mostAbandoned else { return false }
            let answer = ask(question)
            switch answer {
            case true?: counts[host] = nil
            case false?: count.refusals += 1
            case nil: count.abandoned += 1
            }
            if answer != true { counts[host] = count }
            return answer == true
        }
    }
}
