internal import OMAgentProtocol
internal import OMSecrets
internal import OMShell

/// `token get PROFILE [--format raw|header|curl]`: the access token of the only session under the profile.
struct QuickToken {
    private let profile: String
    /// Nil for the token alone.
    private let line: TokenLine?

    /// - Parameter words: Those behind `token`.
    /// - Returns: nil for any other form of the command.
    init?(_ words: ArraySlice<String>) {
        let words = Array(words)
        guard words.count == 2 || words.count == 4 && words[2] == "--format", words[0] == "get", !words[1].hasPrefix("-") else {
            return nil
        }
        profile = words[1]
        switch words.count == 4 ? words[3] : "raw" {
        case "raw": line = nil
        case "header": line = .header
        case "curl": line = .curl
        default: return nil
        }
    }

    /// - Returns: false if nothing was printed. omvault-full says why, or gets the token another way.
    func run() throws(Failure) -> Bool {
        guard !StandardOutput.isTerminal, let question = question(), let socket = try? AgentSocket(Environment.text) else {
            return false
        }
        var body = SecretBuffer()
        body.write(question)
        let reply: KnownTokenReply
        do throws(AgentError) { reply = try AgentConnection(socket).ask(.knownToken, body) } catch {
            if error == .deadline { AgentTimeOut.note() }
            return false
        }
        switch consume reply {
        case .none: return false
        case .given(let token):
            guard let line else {
                try StandardOutput.write(token)
                return true
            }
            guard let printed = try? line.line(with: token) else { return false }
            try StandardOutput.write(printed)
            return true
        }
    }

    private func question() -> KnownTokenQuestion? {
        guard let folders = try? UserFolders(), let reading = folders.reading(ofProfile: profile) else { return nil }
        return KnownTokenQuestion(state: folders.state, device: folders.device, profile: profile, reading: reading)
    }
}
