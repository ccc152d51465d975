// What `omvault find` keeps secret. The dialogues are in Tests/Transcripts/find.md.

import Foundation
import TestSupport
import Testing

@Suite("The verb find") struct FindCommandTests {
    @Test("the text that --query-from reads is in no argument of a process and in no error")
    func query() async throws {
        let ran = try await bash(
            AgentTests.start + """
                unlock
                printf 'a-secret-to-look-for' > query
                strace -f -qq -e trace=execve -o calls omvault find --query-from file:query
                refused 1 grep a-secret-to-look-for calls
                printf 'a-secret-to-look-for%01100d' 1 > query
                refused 2 omvault find --query-from file:query
                mv .refused told
                refused 1 grep a-secret-to-look-for told
                """)
        #expect(ran.status == 0, "\(ran)")
    }
}
