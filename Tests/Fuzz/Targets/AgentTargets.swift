// Frames that arrive at the agent's socket, and answers that a client reads.

import OMSecrets

@testable import OMAgent
@testable import OMAgentProtocol

enum AgentTargets {
    static let all = [
        // The first byte is the frame's kind. A frame that is read must be written again as the same bytes.
        FuzzTarget(name: "agent-request") { bytes in
            guard let kind = bytes.first, let request = try? AgentRequest.decode(kind, bytes.span.extracting(1...))
            else { return }
            var again = SecretBuffer()
            let kindAgain = request.encode(into: &again)
            precondition(kindAgain.rawValue == kind && holds(again, bytes), "a request has two spellings")
        },
        FuzzTarget(name: "agent-reply") { bytes in
            guard let kind = bytes.first, let reply = try? AgentReply.decode(kind, bytes.span.extracting(1...)) else {
                return
            }
            var again = SecretBuffer()
            let kindAgain = reply.encode(into: &again)
            precondition(kindAgain.rawValue == kind && holds(again, bytes), "an answer has two spellings")
        },
    ]

    private static func holds(_ again: borrowing SecretBuffer, _ bytes: [UInt8]) -> Bool {
        again.withBytes { again in again.indices.map { again[$0] } } == Array(bytes.dropFirst())
    }
}
