// The answers to one connection of an ssh-agent. Reference: docs/reference/ssh-agent.md.

internal import OMAgentProtocol
package import OMCrypto
internal import OMItems

/// What one program asks an ssh-agent, and what ssh told about the connection.
package struct SSHConversation: ~Copyable {
    private let source: any SSHKeySource
    private let program: AskingProgram
    private let connection: Int32
    private let front: SSHFront
    private let questions: SSHQuestions
    private var bindings = SSHBindings()
    private var isRefused = false

    /// - Parameters:
    ///   - source: The keys.
    ///   - program: The program at the other end.
    ///   - connection: Its descriptor.
    ///   - front: What this ssh-agent is started for.
    ///   - questions: Those of all connections.
    package init(
        _ source: any SSHKeySource, for program: AskingProgram, over connection: Int32, as front: SSHFront,
        asking questions: SSHQuestions
    ) {
        (self.source, self.program, self.connection) = (source, program, connection)
        (self.front, self.questions) = (front, questions)
    }

    /// Whether the connection comes from another machine.
    package var isForwarded: Bool { bindings.isForwarded }

    package mutating func answer(_ message: SSHAgentMessage) -> SSHAgentAnswer {
        switch message {
        case .identities:
            guard let keys = try? source.keys() else { return .failure }
            return .identities(keys.map { ($0.publicKey, $0.item.text) })
        case .sign(let key, let data, let flags): return sign(data, with: key, flags).map { .signature($0) } ?? .failure
        case .bind(let binding): return bindings.add(binding) ? .success : .failure
        case .query: return .extensions
        case .front(let wanted): return !isForwarded && front.serves(wanted) ? .success : .failure
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
        guard isAllowed(use, of: offered, asks: front.confirmsAll || offered.asks || bindings.isForwarded) else { return nil }
        return (try? source.sign(data, with: offered, flags: flags)) ?? nil
    }

    private mutating func isAllowed(_ use: SSHSignedData, of key: OfferedSSHKey, asks: Bool) -> Bool {
        guard asks else { return true }
        // Attack: a program asks in a loop, until a tired person says yes.
        guard !isRefused else { return false }
        var destination: [UInt8]?
        if case .login(let login) = use { destination = bindings.destination(of: login) }
        let question = SSHQuestion(
            item: key.item, use: use, program: program, connection: connection, isForwarded: bindings.isForwarded,
            forwardingHosts: bindings.forwardingHosts, destination: destination)
        isRefused = !questions.isAllowed(question)
        return !isRefused
    }
}
