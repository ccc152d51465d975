// Many processes at one credential at once: 200 in a whole run.

import Foundation
import TestSupport
import Testing

@Suite struct LoginRaceTests {
    private static let count = Sweep.count(200, sample: 40)

    /// Enrols ada, then runs that many checks at once; each prints its exit code and what it said.
    private func race(limit: Int, password: String) async throws -> [String] {
        let ran = try await bash(
            """
            set -e
            omvault -q profile set p OfflineAuthAllowed=true MaxLoginAttempts=\(limit) OnAttemptsExceeded=wipe
            printf right | omvault -q login enroll ada --profile p --password-from stdin --kdf-mem 8 --kdf-time 1
            printf '\(password)' > typed
            for i in $(seq \(Self.count)); do
                { said=$(omvault login check ada --mode offline --password-from file:typed 2>/dev/null) && code=0 || code=$?
                  echo "$code $said" > "answer.$i"; } &
            done
            wait
            cat answer.*
            omvault login status --json
            omvault log ls --logins --json | grep -o '"event":"wiped"' | wc -l
            """)
        #expect(ran.status == 0, "\(ran.errors)")
        return ran.output.split(separator: "\n").map(String.init)
    }

    @Test("R1 of many wrong guesses at once, six are checked, one wipes, and the rest find the login wiped")
    func wrongPasswords() async throws {
        let answers = try await race(limit: 5, password: "wrong")
        #expect(answers.count == Self.count + 2)
        #expect(answers.last == "1", "the log tells of one wipe")
        #expect(
            answers.filter { $0.hasPrefix("20 denied attempts_left=") }.sorted()
                == (0...4).map { "20 denied attempts_left=\($0)" })
        #expect(answers.filter { $0 == "23 denied reason=attempts_exceeded" }.count == 1)
        #expect(
            answers.filter { ["23 denied reason=wiped", "23 denied reason=wipe_pending"].contains($0) }.count == Self.count - 6)
        let login = try Ran.login(answers[Self.count])
        #expect(login["charged"] as? Int == 6 && login["failed"] as? Int == 6 && login["reason"] as? String == "wiped")
    }

    @Test("R2 many processes with the right password at once are all let in, with a limit of one")
    func rightPasswords() async throws {
        let answers = try await race(limit: 1, password: "right")
        #expect(answers.filter { $0.hasPrefix("0 granted offline user=ada profile=p") }.count == Self.count)
        let login = try Ran.login(answers[Self.count])
        #expect(login["charged"] as? Int == 0 && login["failed"] as? Int == 0 && login["offline"] as? Bool == true)
    }
}
