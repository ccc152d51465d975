// Files that an attacker changed with SQLite's own tools. The program refuses them, and runs nothing that is in them.

import Foundation
import TestSupport
import Testing

@Suite("Hostile vault and ledger files") struct HostileFileTests {
    /// `hostile FILE SQL COMMAND…` changes a copy of the file's database and runs the command: it must end with 30 or 14, within
    /// 400 MiB, and must not change the folder or the file. `planted` is the same with the change in a `-wal`.
    private static let start = """
        set -e
        umask 077
        printf password > password; printf value > value; printf right > right
        export OMVAULT_PASSWORD_FROM=file:password
        omvault -q init --kdf-mem 8 --kdf-time 1 > code
        omvault -q add item --field x=file:value
        vault=.local/share/omvault/personal.omv ledger=.local/state/omvault/logins.db
        cp $vault vault.good
        cat > peak.py <<'END'
        import os, subprocess, sys
        for line in sys.stdin:
            words = line.split()
            with open("said", "w+") as said:
                child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
                _, status, usage = os.wait4(child.pid, 0)
                child.returncode = os.waitstatus_to_exitcode(status)
                said.seek(0)
                # verify says 42 of a vault that it could look at, and names the damage.
                codes = (14, 30, 42) if "verify" in words else (14, 30)
                isFine = child.returncode in codes and usage.ru_maxrss <= 400 << 10
                print("fine" if isFine else ("exit", child.returncode, "peak", usage.ru_maxrss, words, said.read()), flush=True)
        END
        # One for all commands: the start of Python costs more than the command.
        coproc peak { exec python3 peak.py; }
        fits() {
            local said
            echo "$@" >&"${peak[1]}"; read -r said <&"${peak[0]}"
            [[ $said == fine ]] || { echo "$said"; return 1; }
        }
        change() {
            rm -f "$1" "$1"-wal "$1"-shm
            cp "$2" "$1"
            printf '%s\\n' "$3" > change.sql
            sqlite3 "$1" < change.sql > sqlite.said 2>&1 || { echo "sqlite3: $3"; cat sqlite.said; exit 97; }
        }
        refuses() {
            local file=$1 sum; shift
            sum=$(cksum < "$file")
            fits "$@" || { echo "after: $(cat change.sql)"; exit 96; }
            [[ $(cksum < "$file") == "$sum" ]] || { echo "written: $(cat change.sql)"; exit 95; }
        }
        reads() {
            for verb in 'get item:x' ls verify 'key slots'; do refuses "$vault" omvault $verb --no-input; done
        }

        """

    /// Changes of the schema of either kind of file. `T` is one of its tables.
    private static let schemas = [
        "CREATE VIRTUAL TABLE evil USING fts5(x); INSERT INTO evil VALUES ('a')",
        "CREATE VIRTUAL TABLE evil USING fts4(x)", "CREATE VIRTUAL TABLE evil USING rtree(a, b, c)",
        "DROP TABLE T; CREATE VIRTUAL TABLE T USING fts5(id, body)",
        "ALTER TABLE T ADD COLUMN big BLOB GENERATED ALWAYS AS (zeroblob(900000000)) VIRTUAL",
        "DROP TABLE T; CREATE TABLE T (id INTEGER PRIMARY KEY, row BLOB AS (zeroblob(900000000)), body BLOB AS (zeroblob(900000000)))"
            + "; INSERT INTO T (id) VALUES (1)",
        "DROP TABLE T; CREATE VIEW T AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, i AS body FROM n",
        "CREATE VIEW evil AS SELECT zeroblob(900000000)",
        "CREATE TRIGGER evil AFTER UPDATE ON T BEGIN DELETE FROM T; END",
        "CREATE INDEX evil ON T (hex(zeroblob(1000)))",
        "CREATE TABLE evil (a DEFAULT (zeroblob(900000000)) CHECK (length(a) > 0))",
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = sql || ' ' WHERE name = 'T'",
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = NULL WHERE name = 'T'",
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 2000000000 WHERE name = 'T'",
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 1 WHERE name = 'T'",
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET type = 'trigger' WHERE name = 'T'",
        "PRAGMA writable_schema = ON; INSERT INTO sqlite_schema VALUES ('table', 'evil', 'evil', 0, 'CREATE VIRTUAL TABLE evil USING nothing(x)')",
        "PRAGMA writable_schema = ON; INSERT INTO sqlite_schema VALUES ('index', 'evil', 'T', 3, NULL)",
        "PRAGMA writable_schema = ON; INSERT INTO sqlite_schema VALUES (NULL, NULL, NULL, NULL, NULL)",
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = printf('%s /* %.*c */', sql, 5000000, 'x') WHERE name = 'T'",
    ]

    private func expectDone(_ script: String, _ location: SourceLocation = #_sourceLocation) async throws {
        let ran = try await bash(Self.start + script + "\necho done\n")
        #expect(ran.status == 0 && ran.output == "done\n", "\(ran.output)\(ran.errors)", sourceLocation: location)
    }

    private static func each(_ table: String) -> String {
        schemas.map { "'" + $0.replacing(#/\bT\b/#, with: table).replacing("'", with: "'\\''") + "'" }.joined(separator: " ")
    }

    @Test("a vault with a virtual table, a generated column or any other schema than ours is refused, and nothing is run")
    func vaultSchemas() async throws {
        try await expectDone(
            """
            for sql in \(Self.each("header")); do change $vault vault.good "$sql"; reads; done
            """)
    }

    @Test("a ledger with a virtual table, a generated column or any other schema than ours is refused, and nothing is run")
    func ledgerSchemas() async throws {
        try await expectDone(
            """
            omvault -q profile set work OfflineAuthAllowed=true
            omvault -q login enroll ada --profile work --password-from file:right --kdf-mem 8 --kdf-time 1
            cp $ledger ledger.good
            for sql in \(Self.each("logins")); do
                change $ledger ledger.good "$sql"
                refuses $ledger omvault login check ada --profile work --password-from file:right --mode offline --no-input
            done
            """)
    }

    @Test("a planted -wal that changes the schema or a row is refused like the file itself")
    func planted() async throws {
        try await expectDone(
            """
            for sql in \(Self.each("header")) "UPDATE header SET body = zeroblob(632)" \\
                "UPDATE header SET body = CAST(x'00' || zeroblob(19000000) AS TEXT)" "DELETE FROM slots WHERE id = 2"
            do
                change other vault.good ".dbconfig no_ckpt_on_close on
            PRAGMA journal_mode = WAL;
            $sql;"
                [[ -s other-wal ]] || { echo "no -wal: $sql"; exit 94; }
                cp vault.good $vault; cp other-wal $vault-wal; rm -f $vault-shm
                # SQLite may move the -wal's frames into the file when it is closed: that is no change of ours.
                for verb in 'get item:x' ls verify; do fits omvault $verb --no-input || { echo "$sql"; exit 96; }; done
            done
            """)
    }

    @Test("a -wal that is a link, a folder, a pipe or open to others is refused, and the target of a link is not changed")
    func unsafeLog() async throws {
        try await expectDone(
            """
            printf untouched > target
            for way in 'ln -s ~/target' 'ln ~/target' 'mkdir' 'mkfifo' 'install -m 644 ~/target'; do
                for end in wal shm; do
                    cp vault.good $vault; rm -rf $vault-wal $vault-shm
                    eval "$way $vault-$end"
                    refuses $vault timeout 60 omvault get item:x --no-input
                    refused 14 omvault get item:x --no-input
                done
            done
            [[ $(cat target) == untouched ]]
            rm -rf $vault-wal $vault-shm
            """)
    }

    @Test("a -wal of random bytes does not change the value that is read")
    func garbageLog() async throws {
        try await expectDone(
            """
            for bytes in 1 32 5000; do
                cp vault.good $vault; rm -f $vault-shm
                head -c $bytes /dev/urandom > $vault-wal
                [[ $(omvault get item:x --no-input) == value ]]
            done
            """)
    }
}
