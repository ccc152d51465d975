// A backup and a restore, killed and refused the disk at every write, sync and link.

import Foundation
import TestSupport
import Testing

@Suite struct BackupCrashTests {
    /// What is run, and what must hold after it, in a home that was copied for it. With the recovery code: a password
    /// that was charged and never checked would have to wait.
    enum Verb: String, CaseIterable, CustomTestStringConvertible {
        case create, here, elsewhere

        var testDescription: String { rawValue }

        /// Makes the home `site`.
        var setup: String {
            switch self {
            case .create: ""
            case .here: "omvault -q backup create site/b; rm site/.local/share/omvault/personal.omv"
            case .elsewhere: "omvault -q backup create b; rm -r site/.local; mv b site/b"
            }
        }

        var command: String {
            switch self {
            case .create: "omvault -q backup create h/b --recovery-from file:code"
            case .here: "omvault -q backup restore h/b --recovery-from file:code --replace-living"
            case .elsewhere:
                "omvault -q backup restore h/b --recovery-from file:code --new-password-from file:pw"
            }
        }

        /// A backup is there and whole, or not there; a vault has its item, or is not there and can be restored again.
        var check: String {
            switch self {
            case .create:
                """
                test ! -e h/b || omvault backup verify h/b > /dev/null || echo "damaged"
                test "$status" != 0 || test -e h/b || echo "said it was done"
                """
            case .here, .elsewhere:
                """
                if test ! -e h/.local/share/omvault/personal.omv; then
                    test "$status" != 0 || echo "said it was done"
                    \(command) || echo "not restored again: $?"
                fi
                """
            }
        }
    }

    @Test("the draft of a restore that the disk refused is not used as a vault")
    func refusedDraft() async throws {
        let ran = try await bash(
            """
            set -e
            printf 'pass word' > pw; printf value > v
            export OMVAULT_PASSWORD_FROM=file:pw
            omvault -q init --kdf-mem 8 --kdf-time 1 --no-recovery
            omvault -q key add-slot --type file --out key
            omvault -q add item --field x=file:v
            omvault -q backup create b
            cd .local/share/omvault; mv personal.omv ~/kept
            refused 60 strace --seccomp-bpf -f -qq -o ~/trace -e trace=link,unlink -e inject=link,unlink:error=EIO \
                omvault -q backup restore ~/b --replace-living --key-file-from file:$HOME/key
            grep -c 'link(.*INJECTED' ~/trace > /dev/null
            rm -f personal.omv.*-wal personal.omv.*-shm; mv personal.omv.*.new personal.omv
            refused 30 omvault get item:x --key-file-from file:$HOME/key
            rm personal.omv; mv ~/kept personal.omv
            omvault get item:x --key-file-from file:$HOME/key
            """)
        #expect(ran.output == "value" && ran.status == 0, "\(ran)")
    }

    @Test(
        "a backup or a restore that is interrupted anywhere leaves the old state or the new one",
        arguments: Verb.allCases, ["signal=SIGKILL", "error=EIO", "error=ENOSPC"])
    func everywhere(verb: Verb, fault: String) async throws {
        // Each fault begins with the first call, so that the sample is not the same for all three.
        let isKill = fault.hasPrefix("signal")
        let step = Sweep.count(1, sample: isKill ? 5 : fault == "error=EIO" ? 7 : 9)
        var total = 0
        for call in ["write", "pwrite64", "fdatasync", "fsync", "link"] {
            let ran = try await bash(
                """
                printf 'pass word' > pw; printf value > v
                export OMVAULT_PASSWORD_FROM=file:pw
                mkdir site; export HOME=$PWD/site
                omvault -q init --kdf-mem 8 --kdf-time 1 > code
                omvault -q add item --field x=file:v
                \(verb.setup)
                export HOME=$PWD/h
                n=$((1 - \(step)))
                while n=$((n + \(step))); do
                    rm -rf h; cp -a site h
                    strace \(isKill ? "" : "--seccomp-bpf ")-f -qq -o trace -e trace=\(call) -e inject=\(call):\(fault):when=$n \(verb.command) 2> said
                    status=$?
                    test "$(grep -c '\(call)(' trace)" -ge $n || break
                    echo "\(call) $n"
                    test $status != 134 && test $status != 139 || echo "crashed $status"
                    \(isKill ? "test $status = 137 || echo not killed" : "test $status = 0 || grep -q error: said || echo silent")
                    \(verb.check)
                    omvault get item:x --recovery-from file:code > got && cmp -s got v || echo "lost $?"
                    omvault -q log verify || echo "log $?"
                done
                """)
            let lines = ran.output.split(separator: "\n").map(String.init)
            let bad = lines.filter { !$0.hasPrefix(call + " ") }
            #expect(bad.isEmpty && ran.status == 0, "\(verb) \(fault): \(ran)")
            total += lines.count
        }
        // Without a call to cut at, everything above would pass by itself.
        #expect(total > 3, "\(verb) \(fault)")
    }
}
