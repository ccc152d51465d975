// The answers to one connection of an ssh-agent. Reference: docs/reference/ssh-agent.md.

internal import OMAgentProtocol
package import OMCrypto
internal import OMItems

/// What one program asks an ssh-agent, and what ssh told about the connection.
package struct SSHConversation: ~Copyable {
    private let source: any SSHKeySource
    private let program: AskingProgram
    private let confirmsAll: Bool
    private let questions: SSHQuestions
    private var bindings = SSHBindings()
    private var isRefused = false

    /// - Parameters:
    ///   - source: The keys.
    ///   - program: The program at the other end.
    ///   - confirmsAll: Whether each signature needs a yes.
    ///   - questions: Those of all connections.
    package init(
        _ source: any SSHKeySource, for program: AskingProgram, confirmsAll: Bool,
        asking questions: SSHQuestions
    ) {
        (self.source, self.program, self.confirmsAll, self.questions) = (source, program, confirmsAll, questions)
    }

    package mutating func answer(_ message: SSHAgentMessage) -> SSHAgentAnswer {
        switch message {
        case .identities:
            guard let keys = try? source.keys() else { return .failure }
            return .identities(keys.map { ($0.publicKey, $0.item.text) })
        case .sign(let key, let data, let flags): return sign(data, with: key, flags).map { .signature($0) } ?? .failure
        case .bind(let binding): return bindings.add(binding) ? .success : .failure
        case .query: return .extensions
        case .other: return .failure
        }
    }

    private mutating func sign(_ data: [UInt8], with key: [UInt8], _ flags: UInt32) -> [UInt8]? {
        guard let offered = try? source.keys().first(where: { $0.publicKey == key }),
            let algorithm = SSHSignature.algorithm(forKey: key, flags: flags),
            let use = SSHSignedData(data, key: key, algorithm: algorithm), bindings.allow(use)
        else { return nil }
        // Attack: the administrator of a machine to which the agent is forwarded uses the keys without their owner. So each such
        // use needs a yes.
        guard isAllowed(use, of: offered, asks: confirmsAll || offered.asks || bindings.isForwarded) else { return nil }
        return (try? source.sign(data, with: offered, flags: flags)) ?? nil
    }

    private mutating func isAllowed(_ use: SSHSignedData, of key: OfferedSSHKey, asks: Bool) -> Bool {
        guard asks else { return true }
        // Attack: a program asks in a loop, until a tired person says yes.
        guard !isRefused else { return false }
        let question = SSHQuestion(
            item: key.item, use: use, program: program, isForwarded: bindings.isForwarded,
            forwardedTo: bindings.forwardingHosts, destination: bindings.destination)
        isRefused = !questions.isAllowed(question)
        return !isRefused
    }
}
