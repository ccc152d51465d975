// The answers of an ssh-agent (draft-miller-ssh-agent).

/// An answer to an ``SSHAgentMessage``.
package enum SSHAgentAnswer: Hashable, Sendable {
    case failure
    case success
    /// Each key in SSH's form, with its comment.
    case identities([(key: [UInt8], comment: String)])
    case signature([UInt8])
    /// The names of the extensions.
    case extensions

    /// The whole message, with its length.
    package var bytes: [UInt8] {
        var writer = SSHWriter()
        switch self {
        case .failure: writer.bytes([5].span)
        case .success: writer.bytes([6].span)
        case .identities(let keys):
            writer.bytes([12].span)
            let fitting = Self.fitting(keys)
            writer.number(fitting.count)
            for (key, comment) in fitting {
                writer.string(key.span)
                writer.text(comment)
            }
        case .signature(let signature):
            writer.bytes([14].span)
            writer.string(signature.span)
        case .extensions:
            writer.bytes([29].span)
            writer.text("query")
            writer.text(SSHBinding.name)
        }
        let body = writer.bytes()
        var message = SSHWriter()
        message.string(body.span)
        return message.bytes()
    }

    /// The first keys for which a message of ``SSHAgentMessage/longest`` has room. ssh takes no longer list.
    private static func fitting(_ keys: [(key: [UInt8], comment: String)]) -> ArraySlice<(key: [UInt8], comment: String)> {
        var left = SSHAgentMessage.longest - 5
        return keys.prefix { key, comment in
            left -= 8 + key.count + comment.utf8.count
            return left >= 0
        }
    }

    package static func == (one: SSHAgentAnswer, other: SSHAgentAnswer) -> Bool { one.bytes == other.bytes }
    package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}
