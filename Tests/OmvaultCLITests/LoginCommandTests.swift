// Logins that end with Ctrl-C or Ctrl-D, and the bytes of a remembered password. The pages login.md and auto-login.md have
// the dialogues.

import Foundation
import TestSupport
import Testing

@Suite("Logging in at the command line") struct LoginCommandTests {
    /// The profile allows everything to be remembered with this device's key, and `ada` is enrolled. `said CODE COMMAND…` prints the
    /// command's output.
    private static let start = """
        set -e
        umask 077
        K='--kdf-mem 8 --kdf-time 1'
        printf 'open sesame' > right; printf 'wrong word' > wrong; printf 'another word' > other
        omvault -q profile set laptop OfflineAuthAllowed=true MaxLoginAttempts=3 AutoLoginAllowed=true \\
            RememberCredentialsAllowed=true RememberUsernameAllowed=true KeychainDataProtection=always
        omvault -q login enroll ada $K --password-from file:right
        said() {
            local wanted=$1 code=0; shift
            "$@" > .said 2> .told || code=$?
            [[ $code == "$wanted" ]] || { echo "exit $code, not $wanted: $*"; cat .said .told; exit 99; }
            sed 's/ age=[0-9]*//' .said
        }
        remembered() {
            omvault login status --json | python3 -c '
        import json, sys
        for one in json.load(sys.stdin)["remembered"]:
            print(one["user"], one["choice"], one["password"], one["armed"])'
        }
        charged() { omvault login status --json | grep -o '"charged":[0-9]*'; }
        # 64 bytes out of the middle of the remembered password's box, in hexadecimal: so the file `box` does not match itself.
        box() { python3 -c '
        import sqlite3
        [(row,)] = sqlite3.connect(".local/state/omvault/logins.db").execute("SELECT row FROM remembered")
        print(row[-128:-64].hex())' > box; }
        holding() { python3 -c '
        import os
        box = bytes.fromhex(open("box").read())
        files = (os.path.join(folder, name) for folder, _, names in os.walk(".") for name in names)
        print(sum(box in open(file, "rb").read() for file in files if os.path.isfile(file)))'; }

        """

    private func script(_ text: String) async throws -> [String] {
        let ran = try await bash(Self.start + text)
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
        return ran.output.split(separator: "\n").map(String.init)
    }

    @Test("a login that comes too early says how long to wait, counts nothing, and asks again")
    func delayed() async throws {
        let ran = try await atTerminal(
            Self.start + """
                omvault -q profile set laptop AttemptDelay=3600
                omvault login ada --remember nothing || echo "ended $?"
                charged
                """,
            [
                ("Password of ada: ", "wrong word\n"), ("2 more wrong passwords are tolerated", ""),
                ("Password of ada: ", "open sesame\n"),
                ("nothing was checked or counted: try again in 3", ""), ("Password of ada: ", "\u{4}"), ("ended 3", ""),
                ("\"charged\":1", ""),
            ])
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
    }

    @Test("Ctrl-C at the prompt for the password ends the login, restores the echo, and counts nothing")
    func interrupted() async throws {
        let ran = try await atTerminal(
            Self.start + """
                trap : INT
                omvault login ada --remember nothing || echo "ended $?"
                stty -a | grep -o ' echo '; charged
                """, [("Password of ada: ", "\u{3}"), ("ended 130", "")])
        #expect(ran.status == 0 && ran.output.contains(" echo \r\n\"charged\":0"), "\(ran.output)\(ran.errors)")
    }

    @Test("R53: an auto login with an old password costs one attempt, however often it is started")
    func stale() async throws {
        let lines = try await script(
            """
            said 0 omvault login ada --remember auto --password-from file:right
            omvault -q login enroll ada $K --old-password-from file:right --password-from file:other
            box; holding
            said 20 omvault login
            for n in 1 2 3 4 5; do said 8 omvault login; done
            charged; remembered; holding
            said 0 omvault login ada --password-from file:other
            """)
        #expect(
            lines == [
                "granted offline user=ada profile=laptop", "1", "denied attempts_left=2", "\"charged\":1",
                "ada credentials False False", "0", "granted offline user=ada profile=laptop",
            ])
    }

    @Test("a wrong password, a removal and a new password leave no byte of the remembered one in any file")
    func forgotten() async throws {
        let lines = try await script(
            """
            keep() { said 0 omvault login ada --remember credentials --password-from "file:$1"; box; holding; }
            keep right
            said 20 omvault login ada --password-from file:wrong
            holding; remembered
            keep right
            said 0 omvault -q login passwd ada $K --password-from file:right --new-password-from file:other
            holding; remembered
            keep other
            omvault -q login rm ada --yes
            holding; remembered
            """)
        let granted = "granted offline user=ada profile=laptop"
        #expect(
            lines == [
                granted, "1", "denied attempts_left=2", "0", "ada credentials False False",
                granted, "1", "0", "ada credentials False False", granted, "1", "0",
            ])
    }
}
