// Attachments: killed while they are written and read, and the memory that they take.

import Foundation
import TestSupport
import Testing

/// `OMVAULT_WHOLE=1 swift test` takes 64 MiB and kills at each of its chunks. Otherwise three chunks are enough.
private let size = Sweep.isWhole ? 64 << 20 : 600_000

/// Above 1 MiB, so that it is read part by part.
private let readSize = Sweep.isWhole ? 64 << 20 : 1_200_000

@Suite("Large values from the shell") struct LargeValueCommandTests {
    private static func vault(_ size: Int) -> String {
        """
        set -e
        printf password > password
        seq -w 1 9999999 | head -c \(size) > new; head -c 300000 new | tac > old
        omvault -q init --password-from file:password --kdf-mem 8 --kdf-time 1 --no-recovery
        omvault -q add item --field x=file:old --keep-newline --password-from file:password
        omvault -q key add-slot --type file --out key --password-from file:password

        """
    }

    /// The calls to kill at: each chunk has one write into the spool, and many into the log of the database.
    private static func points(_ count: Int) -> [Int] {
        let chunks = size / 261_888 + 1
        guard Sweep.isWhole else { return Sweep.points(upTo: count, sample: 6) }
        let first = min(chunks, count)
        return Array(1...first) + stride(from: first + 1, through: count, by: max(1, (count - first) / chunks))
    }

    @Test("a value killed while it is written leaves the old one or the new one, and neither a chunk nor a file too many")
    func written() async throws {
        let site = try TestFolder()
        let made = try await bash("cd \"$HOME\"\n" + Self.vault(size), environment: ["HOME": site.path])
        try #require(made.status == 0, "\(made.errors)")
        let change = "omvault -q set item:x --value-from file:new --keep-newline --key-file-from file:key"
        let start = "cp -a \"$SITE/.\" .\n"
        let ran = try await bash(
            start + "strace --seccomp-bpf -f -o trace -e trace=pwrite64,fdatasync \(change)\ncat trace",
            environment: ["SITE": site.path])
        var seen: Set<String> = []
        for call in ["pwrite64", "fdatasync"] {
            let count = ran.output.split(separator: "\n").filter { $0.contains(" \(call)(") }.count
            try #require(count > 3, "\(ran.errors)")
            for number in Self.points(count) {
                let ran = try await bash(
                    start + """
                        strace -f -o trace -e trace=\(call) -e inject=\(call):signal=SIGKILL:when=\(number) \(change) || test $? = 137
                        omvault -q verify --deep --key-file-from file:key || echo "verify $?"
                        omvault get item:x --key-file-from file:key > found
                        cmp -s found old && what=old || { cmp -s found new && what=new; } || what=mixture
                        echo $what $(sqlite3 .local/share/omvault/personal.omv 'SELECT count(*) FROM chunks')
                        find . -name '.omvault-*'
                        """, environment: ["SITE": site.path])
                let chunks = (size + 261_887) / 261_888
                let states = ["old 2\n", "new \(2 + chunks)\n"]
                #expect(states.contains(ran.output), "killed at \(call) \(number): \(ran.output) \(ran.errors)")
                seen.insert(ran.output)
            }
        }
        // Of the kills, at least one came before the commit and at least one after it.
        #expect(seen.count == 2, "\(seen)")
    }

    @Test("a value killed while it is read gives its start and nothing else, and the vault stays as it was")
    func read() async throws {
        let ran = try await bash(
            Self.vault(readSize) + """
                omvault -q set item:x --value-from file:new --keep-newline --key-file-from file:key
                export OMVAULT_QUIET=1
                chunks=$(( (\(readSize) + 261887) / 261888 ))
                for number in $(seq $chunks); do
                    strace -f -o trace -e trace=write -e inject=write:signal=SIGKILL:when=$number \
                        omvault get item:x --key-file-from file:key > found && echo "$number: not killed" || test $? = 137
                    cmp -n $(stat -c %s found) found new || echo "$number: other bytes"
                done
                omvault -q verify --deep --key-file-from file:key
                omvault get item:x --key-file-from file:key | cmp - new
                find . -name '.omvault-*'
                """)
        #expect(ran.status == 0 && ran.output == "", "\(ran.output) \(ran.errors)")
    }

    @Test("verify ends with the disk's error if the disk fails while it looks for versions behind a damaged record")
    func unreadable() async throws {
        let ran = try await bash(
            Self.vault(1_200_000) + """
                omvault -q set item:x --value-from file:new --keep-newline --key-file-from file:key
                omvault -q set item:x --value-from file:password --key-file-from file:key
                # The newest version: its record claims the item of the others, and has the highest row.
                sqlite3 .local/share/omvault/personal.omv \
                    'UPDATE records SET body = zeroblob(400) WHERE id = (SELECT max(id) FROM records)'
                check='omvault -q verify --deep --key-file-from file:key'
                strace -f -o trace -e trace=pread64 $check > report || echo $?
                reads=$(grep -c 'pread64(' trace)
                # Nearly all reads are those of the 5 chunks of the version behind it, 64 pages each.
                strace -f -o trace -e trace=pread64 -e inject=pread64:error=ETIMEDOUT:when=$((reads / 2)) $check > again 2>&1 || echo $?
                """)
        #expect(ran.output == "42\n60\n", "\(ran.output) \(ran.errors)")
    }

    @Test("a terminal shows how far the change is while the vault is written")
    func progress() async throws {
        let ran = try await atTerminal(
            Self.vault(600_000) + """
                cat new old new > film
                # The disk takes its time.
                TERM=xterm strace -f -o trace -e trace=fdatasync -e inject=fdatasync:delay_enter=800000 \
                    omvault add film --field x=file:film --keep-newline --key-file-from file:key
                """, [])
        #expect(ran.status == 0 && ran.output.contains(" of 1 MiB"), "\(ran.output)")
    }

    @Test("where files must have a name, the spool's is gone at once; if it cannot be removed, nothing is stored")
    func named() async throws {
        let ran = try await bash(
            Self.vault(600_000) + """
                cat new old new > film
                cp -a .local saved
                change='omvault -q set item:x --value-from file:film --keep-newline --key-file-from file:key'
                number=999 unlinks=1
                # Runs the change with failing calls, until they are those of the spool. $1 finds the last one in the trace.
                failing() {
                    for attempt in $(seq 9); do
                        rm -r .local; cp -a saved .local
                        code=0
                        strace -f -o trace -e trace=openat,unlink -e inject=openat:error=EOPNOTSUPP:when=$number \
                            ${2:+-e inject=unlink:error=EPERM:when=$unlinks} $change 2> errors || code=$?
                        grep -q "$1.*INJECTED" trace && return
                        number=$(grep 'openat(' trace | grep -n O_TMPFILE | cut -d: -f1)
                        unlinks=$(grep 'unlink(' trace | grep -n '[.]omvault-' | cut -d: -f1)
                        number=${number:-999} unlinks=${unlinks:-1}
                    done
                }
                failing O_TMPFILE
                echo $code
                omvault get item:x --key-file-from file:key | cmp - film
                find . -name '.omvault-*'
                failing 'unlink.*[.]omvault-' unlink
                echo $code
                omvault get item:x --key-file-from file:key | cmp - old
                """)
        #expect(ran.status == 0 && ran.output == "0\n60\n", "\(ran.output) \(ran.errors)")
    }

    @Test("8 and 64 MiB go in and out, here and through the agent, in the same memory")
    func memory() async throws {
        let ran = try await bash(
            """
            set -e
            printf password > password
            mkdir -m 700 run; export XDG_RUNTIME_DIR=$PWD/run
            omvault -q init --password-from file:password --kdf-mem 8 --kdf-time 1 --no-recovery
            peak() { python3 -c 'import resource, subprocess, sys
            code = subprocess.run(sys.argv[1:]).returncode
            used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
            if code or used > 44: print(*sys.argv[2:4], "exit", code, used, "MiB", file=sys.stderr)' "$@"; }
            for size in 8388608 67108864; do
                head -c $size /dev/urandom > film
                peak omvault -q add here$size --no-agent --field x=file:film --keep-newline --password-from file:password
                peak omvault get here$size:x --no-agent --password-from file:password > found
                cmp found film
                omvault -q unlock --password-from file:password
                peak omvault -q add there$size --field x=file:film --keep-newline
                peak omvault get there$size:x > found
                cmp found film
            done
            agent=$(omvault agent status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["process"])')
            awk '/^VmHWM/ && $2 > 45056 { print }' /proc/$agent/status
            omvault -q agent stop
            """)
        #expect(ran.status == 0 && ran.output == "" && ran.errors == "", "\(ran.output) \(ran.errors)")
    }
}
