import Foundation
import Glibc
import OMSecrets
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol

/// A program in the helper's place.
final class Impostor {
    private let home: TestFolder
    var folder: String { home.path }
    let program: String
    var client: OnlineClient { OnlineClient(program: program) }

    init(_ script: String) async throws {
        home = try TestFolder()
        program = home.file("omvault-agent")
        let text = """
            #!/usr/bin/python3
            import os, time
            here = \(String(reflecting: home.path))
            open(here + '/pid', 'w').write(str(os.getpid()))
            def read(count):
                data = b''
                while len(data) < count:
                    data += os.read(3, count - len(data)) or exit(1)
                return data
            head = read(8)
            question = head + read(int.from_bytes(head[4:], 'big'))
            number = question[8:24]
            accepted = b'\\0\\1\\0\\0\\0\\1x\\0\\0\\0\\0'
            token = b'\\0\\1\\0\\0\\0\\1x\\0\\0\\0\\1\\0\\0\\0\\1y\\0\\0'
            def say(body, kind=0xa0, version=2):
                os.write(3, bytes([0x4f, 0x41, version, kind]) + len(body).to_bytes(4, 'big') + body)
            \(script)

            """
        // Another process writes the file. Otherwise a child of another test could keep it open for writing, and block its start.
        let copy = ["/usr/bin/install", "-m", "700", try home.write(text, to: "script"), program]
        try #require(try await run(copy, in: home).status == 0)
    }

    /// Neither alive nor a zombie. This includes a helper that was killed before it wrote its number.
    var isGone: Bool {
        guard let text = try? String(contentsOfFile: folder + "/pid", encoding: .utf8), let process = pid_t(text) else {
            return true
        }
        return kill(process, 0) != 0 && errno == ESRCH
    }
}
