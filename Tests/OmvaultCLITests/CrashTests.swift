// Killed at every write, sync and unlink, and what the next command finds.

import Foundation
import TestSupport
import Testing

/// A home that is made once and copied for every kill.
final class CrashSite {
    let folder: TestFolder

    /// - Parameter script: runs with the site as its home.
    init(_ script: String) async throws {
        folder = try TestFolder()
        let made = try await bash("set -e; cd \"$HOME\"; \(script)", environment: ["HOME": folder.path])
        try #require(made.status == 0, "\(made.errors)")
    }

    /// How often `command` makes each of the calls at which it will be killed.
    func calls(
        of command: String, named names: [String] = ["pwrite64", "fdatasync", "unlink"]
    ) async throws -> [(call: String, count: Int)] {
        let ran = try await bash(
            "cp -a \"$SITE/.\" .; strace --seccomp-bpf -f -o trace -e trace=\(names.joined(separator: ",")) \(command) >/dev/null 2>&1; cat trace",
            environment: ["SITE": folder.path])
        let counted = names.map { name in
            (name, ran.output.split(separator: "\n").filter { $0.contains(" \(name)(") }.count)
        }
        // Without calls to kill at, everything below would pass by itself.
        try #require(counted.filter { $0.1 > 0 }.count >= 2, "\(ran.output) \(ran.errors)")
        return counted
    }

    /// Runs `command` in a fresh copy, killed at the `number`th `call`, and then `after` in the same home.
    func kill(_ command: String, at call: String, _ number: Int, then after: String) async throws -> Ran {
        try await bash(
            """
            cp -a "$SITE/." .
            strace -f -y -o trace -e trace=\(call),fdatasync -e inject=\(call):signal=SIGKILL:when=\(number) \
                \(command) > said 2>/dev/null
            test $? = 137 || echo "not killed"
            \(after)
            """, environment: ["SITE": folder.path])
    }
}

/// Vaults are opened through a key file where a kill may have left a charge: a password would have to wait then.
@Suite struct CrashTests {
    private static let login = """
        omvault -q profile set p OfflineAuthAllowed=true MaxLoginAttempts=3 OnAttemptsExceeded=wipe
        printf right > right; printf wrong > wrong
        omvault -q login enroll ada --profile p --password-from file:right --kdf-mem 8 --kdf-time 1

        """
    private static let check = "omvault login check ada --mode offline --password-from file:"

    @Test(
        "R3 an attempt killed anywhere costs at least its charge, wipes nothing, and leaves a working login",
        arguments: ["wrong", "right"])
    func attempt(typed: String) async throws {
        let site = try await CrashSite(Self.login)
        for (call, count) in try await site.calls(of: Self.check + typed) {
            for number in Sweep.points(upTo: count, sample: 3) {
                let ran = try await site.kill(
                    Self.check + typed, at: call, number,
                    then: """
                        grep -c 'fdatasync(.*login-.*mark.*= 0' trace
                        test ! -s said || echo "said: $(cat said)"
                        omvault login status --json
                        \(Self.check)right
                        """)
                let at: Comment = "killed at \(call) \(number): \(ran.output) \(ran.errors)"
                var lines = ran.output.split(separator: "\n").map(String.init)
                #expect(!lines.contains("not killed"), at)
                let said = lines.firstIndex { $0.hasPrefix("said: ") }.map { lines.remove(at: $0) }
                guard lines.count == 3, let syncs = Int(lines[0]) else {
                    Issue.record(at)
                    continue
                }
                let login = try Ran.login(lines[1])
                let charged = try #require(login["charged"] as? Int, at)
                let failed = try #require(login["failed"] as? Int, at)
                // The check comes after the mark of the charge is on the disk, and before anything else is written.
                // Only a right one takes it back.
                let least = syncs > 0 && typed == "wrong" ? 1 : 0
                #expect(charged >= least && charged <= 1 && failed <= (typed == "wrong" ? charged : 0), at)
                // A verdict that was said before the kill is on the disk.
                if let said {
                    #expect(said.hasPrefix(typed == "wrong" ? "said: denied attempts_left=2" : "said: granted"), at)
                    #expect(failed == (typed == "wrong" ? 1 : 0) && charged == failed, at)
                }
                #expect(login["offline"] as? Bool == true && ran.status == 0 && lines[2].hasPrefix("granted"), at)
            }
        }
    }

    @Test(
        "a signal of the terminal, a hang-up or a terminate waits for the verdict of a charged attempt",
        arguments: ["SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT", "SIGTSTP"])
    func signals(name: String) async throws {
        let site = try await CrashSite(Self.login)
        let count = try #require(try await site.calls(of: Self.check + "wrong").first { $0.call == "fdatasync" }?.count)
        var settled = 0
        for number in Sweep.points(upTo: count, sample: 4) {
            // It has ended, or is stopped: then nothing of it goes on until SIGCONT.
            let ran = try await bash(
                """
                cp -a "$SITE/." .
                mkfifo trace
                strace -f -o trace -e trace=fdatasync -e inject=fdatasync:signal=\(name):when=\(number) \
                    \(Self.check)wrong > said 2>/dev/null &
                exec 7< trace
                while read -r process line <&7 && [[ $line != *'stopped by'* && $line != '+++ '* ]]; do :; done
                # A copy: a stopped process may hold SQLite's locks.
                mkdir copy; cp -a .local .config copy
                HOME=$PWD/copy omvault login status --json
                kill -CONT "$process" 2> /dev/null
                cat <&7 > /dev/null
                wait
                """, environment: ["SITE": site.folder.path])
            let login = try Ran.login(ran.output)
            let (charged, failed) = (login["charged"] as? Int, login["failed"] as? Int)
            #expect(charged != nil && charged == failed, "\(name) at sync \(number): \(ran.output)")
            settled += failed ?? 0
        }
        #expect(settled > 1)
    }

    @Test("R59 more kills than attempts lock the login and destroy nothing")
    func crashesAlone() async throws {
        let site = try await CrashSite(Self.login)
        // Each is killed where its mark is being written after the check: charged, and never settled.
        let ran = try await site.kill(
            Self.check + "wrong", at: "pwrite64", 1,
            then: """
                for i in 1 2 3 4 5 6; do
                    strace -f -o trace -e inject=fdatasync:signal=SIGKILL:when=3 \(Self.check)wrong >/dev/null 2>&1
                done
                omvault login status --json
                \(Self.check)right
                """)
        let lines = ran.output.split(separator: "\n").map(String.init)
        let login = try Ran.login(lines.first ?? "")
        #expect(login["charged"] as? Int == 4 && login["failed"] as? Int == 0, "\(lines)")
        #expect(login["reason"] as? String == "locked_out" && login["scheme"] as? String == "SaltedSHA-512")
        #expect(ran.status == 22, "\(lines)")
    }

    @Test("R3, R4 a wipe killed anywhere is finished by the next command, and never undone")
    func wipe() async throws {
        let site = try await CrashSite(
            Self.login + "for i in 1 2 3; do \(Self.check)wrong || test $? = 20; done >/dev/null 2>&1")
        for (call, count) in try await site.calls(of: Self.check + "wrong") {
            for number in Sweep.points(upTo: count, sample: 3) {
                let ran = try await site.kill(
                    Self.check + "wrong", at: call, number, then: "omvault login status --json; \(Self.check)right")
                let at: Comment = "killed at \(call) \(number): \(ran.output) \(ran.errors)"
                let status = try #require(ran.output.split(separator: "\n").first { $0.hasPrefix("{") }, at)
                let login = try Ran.login(String(status))
                let failed = try #require(login["failed"] as? Int, at)
                switch login["reason"] as? String {
                // Killed before the charge: as if the attempt had not been made.
                case nil: #expect(ran.status == 0 && failed == 3, at)
                // Charged but not judged: nothing is destroyed without a wrong verdict.
                case "locked_out": #expect(ran.status == 22 && failed == 3, at)
                case "wiped": #expect(ran.status == 23 && failed == 4 && login["scheme"] is NSNull, at)
                case let other: Issue.record("\(other ?? "") \(at)")
                }
            }
        }
    }

    @Test("many items that are added at once are all there or none, wherever a kill or Ctrl-C comes")
    func bulkAdd() async throws {
        let site = try await CrashSite(
            """
            printf password > password
            seq -f '{"name":"%.0f","fields":{"x":"a value"}}' 40 > items
            omvault -q init --password-from file:password --kdf-mem 8 --kdf-time 1 --no-recovery
            omvault -q key add-slot --type file --out key --password-from file:password
            """)
        let command = "omvault -q add --from-jsonl items --key-file-from file:key"
        var seen: Set<String> = []
        for (call, count) in try await site.calls(of: command, named: ["pwrite64", "fdatasync"]) {
            for number in Sweep.points(upTo: count, sample: 3) {
                for signal in ["SIGKILL", "SIGINT"] {
                    let ran = try await bash(
                        """
                        cp -a "$SITE/." .
                        strace -f -o trace -e trace=\(call) -e inject=\(call):signal=\(signal):when=\(number) \(command)
                        test $? -gt 128 || echo "not killed"
                        omvault -q verify --deep --key-file-from file:key || echo "verify $?"
                        omvault ls --key-file-from file:key | wc -l
                        """, environment: ["SITE": site.folder.path])
                    #expect(["0\n", "40\n"].contains(ran.output), "\(signal) at \(call) \(number): \(ran.output) \(ran.errors)")
                    seen.insert(ran.output)
                }
            }
        }
        // Of the signals, at least one came before the commit and at least one after it.
        #expect(seen.count == 2, "\(seen)")
    }

    @Test(
        "a change killed anywhere leaves the old state or the new one, and the next command finishes its purge",
        arguments: [
            ("set item:x --value-from file:three", ["two", "three"]),
            ("set item --level always", ["two"]),
            ("restore item --rev 1", ["two", "one"]),
            ("mv item other", ["two", "other two one"]),
            ("cp item other", ["two", "item+other two one"]),
            ("rm item", ["two", "trashed"]),
            ("rm item --purge --yes", ["two", "gone"]),
        ])
    func change(command: String, states: [String]) async throws {
        let site = try await CrashSite(
            """
            printf password > password; printf one > one; printf two > two; printf three > three
            omvault -q init --password-from file:password --kdf-mem 8 --kdf-time 1 --no-recovery
            omvault -q add item --field x=file:one --password-from file:password
            omvault -q set item:x --value-from file:two --password-from file:password
            omvault -q key add-slot --type file --out key --password-from file:password
            """)
        let change = "omvault -q \(command) --key-file-from file:key"
        for (call, count) in try await site.calls(of: change) {
            for number in Sweep.points(upTo: count, sample: 3) {
                let ran = try await site.kill(
                    change, at: call, number,
                    then: """
                        omvault -q verify --deep --key-file-from file:key || echo "verify $?"
                        sqlite3 .local/share/omvault/personal.omv 'SELECT count(*) FROM pending'
                        items=$(omvault ls --key-file-from file:key | paste -sd +)
                        if [[ $items == *other ]]
                        then echo "$items" $(omvault get other:x --key-file-from file:key) \
                            $(omvault get other:x --rev 1 --key-file-from file:key)
                        elif [[ $items == item ]]
                        then omvault get item:x --key-file-from file:key
                        else omvault ls --trash --key-file-from file:key | grep -q item && echo trashed || echo gone
                        fi
                        """)
                let lines = ran.output.split(separator: "\n").map(String.init)
                #expect(
                    lines.count == 2 && lines[0] == "0" && states.contains(lines[1]),
                    "\(command) killed at \(call) \(number): \(ran.output) \(ran.errors)")
            }
        }
    }

    @Test("an add killed anywhere leaves the vault with the old items or with the new one too")
    func add() async throws {
        let site = try await CrashSite(
            """
            printf password > password; printf old > old; printf new > new
            omvault -q init --password-from file:password --kdf-mem 8 --kdf-time 1 --no-recovery
            omvault -q add first --field x=file:old --password-from file:password
            omvault -q key add-slot --type file --out key --password-from file:password
            """)
        let add = "omvault -q add second --field x=file:new --key-file-from file:key"
        for (call, count) in try await site.calls(of: add) {
            for number in Sweep.points(upTo: count, sample: 3) {
                let ran = try await site.kill(
                    add, at: call, number,
                    then: """
                        omvault ls --key-file-from file:key
                        omvault get first:x --key-file-from file:key; echo
                        \(add); echo "again $?"
                        omvault get second:x --key-file-from file:key
                        """)
                let at: Comment = "killed at \(call) \(number): \(ran.output) \(ran.errors)"
                let old = "first\nold\nagain 0\nnew"
                let new = "first\nsecond\nold\nagain 5\nnew"
                #expect([old, new].contains(ran.output) && ran.status == 0, at)
            }
        }
    }

    private static let vault = """
        printf password > password; printf old > old; printf wrong > wrong
        omvault -q init --password-from file:password --kdf-mem 8 --kdf-time 1 --no-recovery
        omvault -q add first --field x=file:old --password-from file:password

        """

    /// The newer of the two slots of the counter: failed attempts, then all attempts.
    private static let failed = """
        python3 -c 'import sys
        b = open(sys.argv[1], "rb").read()
        one = max((b[i:i + 512] for i in (0, 512)), key=lambda s: s[24:32])
        print(int.from_bytes(one[40:48], "big"), int.from_bytes(one[32:40], "big"))' \
            "$HOME"/.local/state/omvault-device/password-*.mark

        """

    @Test(
        "an unlock killed anywhere is charged before it is checked, and no kill gives a free guess",
        arguments: ["wrong", "password"])
    func vaultPassword(typed: String) async throws {
        let site = try await CrashSite(Self.vault)
        let get = "omvault get first:x --password-from file:\(typed)"
        let counts = try await site.calls(of: get)
        var charged = 0
        for (call, count) in counts where call != "unlink" {
            for number in Sweep.points(upTo: count, sample: 3) {
                let ran = try await site.kill(
                    get, at: call, number,
                    then: "grep -c 'fdatasync(.*password-.*mark.*= 0' trace; cat said; echo; \(Self.failed)")
                let at: Comment = "killed at \(call) \(number): \(ran.output) \(ran.errors)"
                let lines = ran.output.split(separator: "\n").map(String.init)
                try #require(lines.count == 2 && lines[0] != "not killed", at)
                let syncs = try #require(Int(lines[0]), at)
                let numbers = lines[1].split(separator: " ").compactMap { Int($0) }
                try #require(numbers.count == 2, at)
                // One attempt was made to add the item. No value is out before the counter was settled.
                switch syncs {
                case 0: #expect((0...1).contains(numbers[0]), at)
                case 1: #expect(numbers[1] == 2 && (typed == "wrong" ? numbers[0] == 1 : numbers[0] <= 1), at)
                default: #expect(numbers[1] == 2 && numbers[0] == 0 && typed == "password", at)
                }
                charged += numbers[0]
            }
        }
        #expect(charged > 0)
    }

    @Test("a right password waits for the disk once: for its charge")
    func settlement() async throws {
        let site = try await CrashSite(Self.vault)
        let ran = try await bash(
            """
            cp -a "$SITE/." .
            strace --seccomp-bpf -f -y -o trace -e trace=fdatasync omvault get first:x --password-from file:password
            echo; grep -c 'fdatasync(.*password-.*mark.*= 0' trace; \(Self.failed)
            """, environment: ["SITE": site.folder.path])
        // One attempt was made to add the item.
        #expect(ran.output.split(separator: "\n") == ["old", "1", "0 2"], "\(ran.output) \(ran.errors)")
    }

    @Test("a right login waits for the disk three times under its lock, for its charge and for the row of its settlement")
    func loginSettlement() async throws {
        let site = try await CrashSite(Self.login)
        let ran = try await bash(
            """
            cp -a "$SITE/." .
            waits() {
                strace --seccomp-bpf -f -y -o trace -e trace=fdatasync \(Self.check)$1 > said 2>&1
                sed -nE 's/.*fdatasync\\(.*[.\\/]([a-z-]+)>\\) *= 0$/\\1/p' trace | paste -sd ' '
            }
            waits right; waits wrong
            """, environment: ["SITE": site.folder.path])
        // A log that is new has its head and its name synced first. Behind the last mark the ledger is closed.
        #expect(
            ran.output.split(separator: "\n") == [
                "db-wal omvault db-wal mark db-wal db-wal db", "db-wal omvault db-wal mark db-wal mark mark db-wal db",
            ], "\(ran.output) \(ran.errors)")
    }

    @Test("a rekey killed at every write, sync and unlink leaves the vault with the old keys or with the new ones")
    func rekey() async throws {
        let site = try await CrashSite(
            Self.vault + """
                printf new > new
                omvault -q set first:x --value-from file:new --password-from file:password
                omvault -q add second --field x=file:old --level always --password-from file:password
                omvault -q key add-slot --type file --out key --password-from file:password
                """)
        let rekey = "omvault -q key rekey --yes --key-file-from file:key"
        for (call, count) in try await site.calls(of: rekey) {
            for number in Sweep.points(upTo: count, sample: 3) {
                let ran = try await site.kill(
                    rekey, at: call, number,
                    then: """
                        omvault ls --key-file-from file:key
                        omvault get first:x --key-file-from file:key; echo
                        omvault get second:x; echo
                        \(rekey); echo "again $?"
                        omvault get first:x --key-file-from file:key
                        """)
                let at: Comment = "killed at \(call) \(number): \(ran.output) \(ran.errors)"
                #expect(ran.output == "first\nsecond\nnew\nold\nagain 0\nnew" && ran.status == 0, at)
            }
        }
    }

    @Test("a rename of a vault killed anywhere leaves the old name or the new one, with every change and no log of its own")
    func rename() async throws {
        // The last change is still in the log: the process that made it was killed before it moved the log into the file.
        let site = try await CrashSite(
            """
            printf password > password; printf one > one; printf two > two
            omvault -q init --password-from file:password --kdf-mem 8 --kdf-time 1 --no-recovery
            omvault -q add item --field x=file:one --password-from file:password
            omvault -q key add-slot --type file --out key --password-from file:password
            vault=.local/share/omvault/personal.omv
            strace -f -qq -o trace -P "$PWD/$vault" -e trace=pwrite64 -e inject=pwrite64:signal=KILL:when=1 \
                omvault -q set item:x --value-from file:two --key-file-from file:key > said 2>&1 || test $? = 137
            test -s $vault-wal
            """)
        let rename = "omvault -q vault rename personal home"
        var names: Set<String> = []
        let calls = ["pwrite64", "fdatasync", "fsync", "ftruncate", "unlink", "renameat2", "rename"]
        for (call, count) in try await site.calls(of: rename, named: calls) {
            for number in Sweep.points(upTo: count, sample: 3) {
                let ran = try await site.kill(
                    rename, at: call, number,
                    then: """
                        cd .local/share/omvault; echo *.omv; name=$(basename *.omv .omv)
                        for log in *-wal; do test ! -s "$log" || test -e "${log%-wal}" || echo "$log has no file"; done; cd
                        omvault get item:x --vault $name --key-file-from file:key; echo
                        omvault -q verify --deep --vault $name --key-file-from file:key || echo "verify $?"
                        test $name = home || \(rename) || echo "again $?"
                        omvault ls --vault home --key-file-from file:key
                        test "$(omvault vault default)" = home || omvault vault default
                        """)
                let at: Comment = "killed at \(call) \(number): \(ran.output) \(ran.errors)"
                let lines = ran.output.split(separator: "\n").map(String.init)
                #expect(ran.status == 0, at)
                let name = lines.first ?? ""
                names.insert(name)
                #expect(["personal.omv", "home.omv"].contains(name), at)
                // If the kill came between the rename and the default, the default still has the old name.
                let rest = [name, "two", "item"]
                #expect(lines == rest || name == "home.omv" && lines == rest + ["personal"], at)
            }
        }
        // Without a kill before and one after the new name, most of this would pass by itself.
        #expect(names == ["personal.omv", "home.omv"])
    }

    @Test("a rename of a vault that the disk refuses says so, and leaves the old name or the new one")
    func refusedRename() async throws {
        let ran = try await bash(
            """
            printf password > password; printf one > one
            mkdir site; export HOME=$PWD/site
            omvault -q init --password-from file:password --kdf-mem 8 --kdf-time 1 --no-recovery
            omvault -q add item --field x=file:one --password-from file:password
            export HOME=$PWD/h
            for call in fsync fdatasync ftruncate unlink renameat2; do
                n=0
                while n=$((n + 1)); do
                    rm -rf h; cp -a site h
                    strace --seccomp-bpf -f -qq -o trace -e trace=$call -e inject=$call:error=EIO:when=$n \\
                        omvault -q vault rename personal home > /dev/null 2> said
                    status=$?
                    grep -q INJECTED trace || break
                    cd h/.local/share/omvault; name=$(basename *.omv .omv); cd ../../../..
                    value=$(omvault get item:x --vault $name --password-from file:password 2>&1)
                    echo "$call $status $(grep -c error: said) $name $value"
                done
            done
            """)
        let lines = ran.output.split(separator: "\n").map(String.init)
        var told = 0
        for line in lines {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 5, ["personal", "home"].contains(words[3]), words[4] == "one" else {
                Issue.record("\(line) \(ran.errors)")
                continue
            }
            // What is only tidying up may fail without a word.
            if words[1] == "60" { told += 1 } else { #expect(words[1] == "0" && words[3] == "home", "\(line)") }
            #expect((words[1] == "60") == (words[2] == "1"), "\(line)")
        }
        #expect(told >= 3, "\(lines)")
    }
}
