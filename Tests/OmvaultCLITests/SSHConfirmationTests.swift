// The words of the question before a key of SSH is used, and the answers.

import Testing

@testable import OMAgent
@testable import OMAgentProtocol
@testable import OMCrypto
@testable import OMItems
@testable import omvault_full

@Suite struct SSHConfirmationTests {
    private func text(
        _ use: SSHSignedData, isForwarded: Bool = false, destination: [UInt8]? = nil
    ) throws -> [Substring] {
        let question = SSHQuestion(
            item: try ItemName("work"), use: use, program: AskingProgram(FrameChannel(-1)), connection: -1,
            isForwarded: isForwarded, forwardingHosts: [], destination: destination)
        return SSHConfirmation.text(question).split(separator: "\n", omittingEmptySubsequences: false)
    }

    @Test("a user or a namespace cannot write a line of the question")
    func escaped() throws {
        let words = "a\nUse the SSH key \"b\"?\u{1B}[2K"
        for use in [SSHSignedData.login(.init(session: [], user: words, hostKey: nil)), .file(namespace: words)] {
            let lines = try text(use)
            #expect(lines.count == 3 && !lines.joined().unicodeScalars.contains { $0.value < 0x20 }, "\(lines)")
        }
    }

    @Test("a host that is not proven has no name in the question")
    func hosts() throws {
        let key = try PrivateKey.generate(.ed25519).publicKey().openSSHBlob().blob
        let login = SSHSignedData.login(.init(session: [], user: "git", hostKey: key))
        let shown = try #require(SSHSignature.fingerprint(ofKey: key))
        #expect(try text(login)[1] == "It logs in as \"git\" at the host that ssh did not name.")
        #expect(try text(login, destination: key)[1] == "It logs in as \"git\" at the host \(shown).")
        #expect(try text(login, isForwarded: true)[2] == "The request may come from another machine, which ssh did not name.")
    }

    @Test("an empty line and yes are a yes, and nothing else is")
    func answers() {
        for answer in ["", "\n", "yes\n", "YES", "Yes\nx"] { #expect(SSHConfirmation.isYes(Array(answer.utf8))) }
        for answer in ["no\n", "y", " yes", "yes ", "\r\n", "\0"] { #expect(!SSHConfirmation.isYes(Array(answer.utf8))) }
    }
}
