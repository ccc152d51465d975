// A disk that refuses: an error injected at every write, sync, cut and unlink of a change. Backup and restore have theirs
// in BackupCrashTests.

import Foundation
import TestSupport
import Testing

@Suite struct FaultTests {
    /// A change, and what prints `old` or `new` in a home where it was tried.
    enum Change: String, CaseIterable, CustomTestStringConvertible {
        case add, edit, rekey, purge, level, policy

        var testDescription: String { rawValue }

        var command: String {
            switch self {
            case .add: "add second --field x=file:two"
            case .edit: "set first:x --value-from file:two"
            case .rekey: "key rekey --yes"
            case .purge: "rm first --purge --yes"
            case .level: "set first --level always"
            case .policy: "policy set history 5"
            }
        }

        var state: String {
            switch self {
            case .add:
                """
                test "$(get first:x)" = one || echo lost
                case $(get second:x) in two) echo new ;; "exit 10") echo old ;; esac
                """
            case .edit: "case $(get first:x) in two) echo new ;; one) echo old ;; esac"
            case .rekey:
                """
                test "$(get first:x)" = one || echo lost
                case $(column 'substr(body, 34, 4)') in 00000002) echo new ;; 00000001) echo old ;; esac
                """
            case .purge: "case $(get first:x) in 'exit 10') echo new ;; one) echo old ;; esac"
            case .level:
                """
                test "$(get first:x)" = one || echo lost
                case $(omvault get first:x --no-input 2> /dev/null || echo "exit $?") in
                    one) echo new ;; "exit 8") echo old ;;
                esac
                """
            case .policy:
                """
                test "$(get first:x)" = one || echo lost
                case $(column 'substr(body, 40, 2)') in 0005) echo new ;; 000A) echo old ;; esac
                """
            }
        }
    }

    @Test(
        "a change that the disk refuses says so, and leaves the old state or the new one",
        arguments: Sweep.isWhole ? Change.allCases : [.add, .edit, .rekey, .purge],
        Sweep.isWhole ? ["EIO", "ENOSPC"] : ["in turn"])
    func refusals(change: Change, error: String) async throws {
        // Odd, so that a sample tries both errors.
        let step = Sweep.count(1, sample: 3)
        let ran = try await bash(
            """
            printf password > password; printf one > one; printf two > two
            mkdir site; export HOME=$PWD/site
            omvault -q init --password-from file:password --kdf-mem 8 --kdf-time 1 --no-recovery
            omvault -q add first --field x=file:one --password-from file:password
            omvault -q key add-slot --type file --out key --password-from file:password
            export HOME=$PWD/h
            vault=$HOME/.local/share/omvault/personal.omv
            get() { omvault get "$@" --key-file-from file:key 2> /dev/null || echo "exit $?"; }
            column() { sqlite3 "$vault" "SELECT hex($1) FROM header"; }
            for call in write pwrite64 fdatasync fsync ftruncate unlink rename link; do
                n=$((1 - \(step)))
                while n=$((n + \(step))); do
                    error=\(error)
                    if test "$error" = "in turn"; then error=EIO; test $((n % 2)) = 0 && error=ENOSPC; fi
                    rm -rf h; cp -a site h
                    strace --seccomp-bpf -f -qq -y -o trace -e trace=$call,fdatasync,fsync -e inject=$call:error=$error:when=$n \\
                        omvault -q \(change.command) --key-file-from file:key > /dev/null 2> said
                    status=$?
                    grep INJECTED trace > hit || break
                    omvault -q verify --deep --key-file-from file:key 2> found || echo "verify $? $(cat found)"
                    state=$(\(change.state))
                    pending=$(sqlite3 "$vault" 'SELECT count(*) FROM pending')
                    # A rekey notes what it is going to write before it does. Before any mark was on the disk only unneeded steps may fail. SQLite drops what comes of its sync
                    # of the folder, so that must have been synced before.
                    sed '/INJECTED/,$d' trace > earlier
                    noted=before
                    if grep -q 'fdatasync(.*vault-.*mark' earlier; then noted=after
                    elif grep -q 'fdatasync(.*/share/omvault>' hit && grep -q 'fsync(.*/share/omvault>) *= 0' earlier
                    then noted=spare
                    elif grep -qE -- '-shm>|unlink' hit; then noted=spare
                    fi
                    grep -q 'error: ' said && told=told || told=silent
                    echo "$call $n $error: $status $told $noted $state $pending $(cat hit)"
                done
            done
            """.replacingOccurrences(of: "error=in turn", with: "error='in turn'"))
        #expect(ran.status == 0, "\(ran)")
        var counts: [String: Int] = [:]
        for line in ran.output.split(separator: "\n") {
            let (isFine, outcome) = Self.judge(String(line))
            #expect(isFine, "\(change): \(line)")
            counts[outcome, default: 0] += 1
        }
        print("faults of \(change.rawValue), \(error): \(counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })")
        // Without a call to refuse, everything above would pass by itself.
        let refused = counts["60 told before old", default: 0] + counts["60 told after old", default: 0]
        #expect(counts.values.reduce(0, +) > Sweep.count(30, sample: 10) && refused > 2, "\(counts)")
    }

    @Test("a vault opens after a crash between a change and its marks, and then a change that the disk refuses")
    func crashThenRefusal() async throws {
        let ran = try await bash(
            """
            set -u
            printf password > password; printf one > one
            mkdir site; export HOME=$PWD/site
            omvault -q init --password-from file:password --kdf-mem 8 --kdf-time 1 --no-recovery
            omvault -q add first --field x=file:one --password-from file:password
            omvault -q key add-slot --type file --out key --password-from file:password
            export HOME=$PWD/h
            n=0
            while n=$((n + 1)); do
                rm -rf h; cp -a site h
                vault=$HOME/.local/share/omvault/personal.omv
                mark=$(echo $HOME/.local/state/omvault-device/vault-*.mark)
                strace -f -qq -o trace -P "$mark" -e trace=pwrite64 -e inject=pwrite64:signal=KILL:when=$n \
                    omvault -q policy set history 9 --key-file-from file:key > /dev/null 2>&1
                grep -q 'killed by SIGKILL' trace || break
                strace -f -qq -o trace -P "$vault-wal" -e trace=pwrite64 -e inject=pwrite64:error=ENOSPC:when=1+ \
                    omvault -q policy set history 8 --key-file-from file:key > /dev/null 2> said
                echo "$n $? $(omvault get first:x --key-file-from file:key 2>&1)"
            done
            """)
        let lines = ran.output.split(separator: "\n")
        #expect(lines.count > 1, "\(ran)")
        for line in lines { #expect(line.hasSuffix(" 60 one"), "\(line)") }
    }

    /// Told with 60, in either state; or done, and what failed was of no consequence.
    private static func judge(_ line: String) -> (Bool, String) {
        let parts = line.split(separator: ": ", maxSplits: 1)
        let words = parts.count == 2 ? parts[1].split(separator: " ").map(String.init) : []
        guard words.count > 5 else { return (false, "else") }
        let outcome = words[..<4].joined(separator: " ")
        let isSettled = words[4] == "0" && ["old", "new"].contains(words[3])
        if words[0] == "60" { return (isSettled && words[1] == "told", outcome) }
        // The file is whole without its shared memory, and without the log being taken away or moved into it.
        return (isSettled && words[0] == "0" && words[3] == "new" && ["after", "spare"].contains(words[2]), outcome)
    }
}
