#if Server
// Backups, moves between the two databases, upgrades, the doctor, two servers on one database: docs/guide/run-a-server.md.

import Foundation
import OMServer
import OMServerStore
import TestSupport
import Testing

@Suite("Operation of omvault-server", .onOwnThreads) struct OperationTests {
    /// Functions for scripts. `code COMMAND…` shows its exit code and its message.
    private static let functions = """
        code() {
            "$@" > out 2> err && { echo 0; cat out; } || echo "$? $(sed -n 's/omvault-server: error: //p' err | sed "s|$HOME|HOME|")"
        }
        begin() {
            server init --url http://127.0.0.1:8080 --listen 127.0.0.1:0 --store "$1" > /dev/null
            echo 'a long password' | server user add ana
            server policy set App MaxLoginAttempts=7 > /dev/null
        }
        login() { curl -s -d "grant_type=password&username=ana&client_id=omvault&device=$1&scope=sync" \\
            --data-urlencode 'password=a long password' $URL/oauth2/token | grep -c access_token || true; }

        """

    private func script(_ text: String) async throws -> Ran { try await ServerProgramTests().script(Self.functions + text) }

    @Test("a backup of a running server fills a store of the other kind", arguments: StoreKind.allCases)
    func moves(_ kind: StoreKind) async throws {
        let from = try await TestStore(kind)
        let to = try await TestStore(kind == .sqlite ? .postgres : .sqlite)
        let ran = try await script(
            """
            begin '\(from.text)'
            serve; login laptop; code server backup whole; login later; end_server
            stat -c %a whole; code server backup whole
            sed -i 's|"store":.*|"store":"\(to.text.replacing("&", with: "\\&"))",|' server/settings.json
            code server restore whole; code server restore whole
            server device ls | cut -f 2-4; server policy show App | tail -1
            serve; login again; end_server
            """)
        #expect(
            ran.output == """
                1
                0
                whole: 6 rows
                1
                600
                5 "whole" is there already
                0
                restored 6 rows
                5 the store is in use; nothing was restored
                ana\tlaptop\tsync
                MaxLoginAttempts=7
                1

                """, "\(ran)")
    }

    /// A store with a row of each kind of value.
    private static func sample(_ place: TestStore) throws -> any ServerStore {
        let store = try place.make(StoreTests.schema)
        try store.transaction(.write) { transaction in
            try transaction.rows("INSERT INTO thing VALUES (?1, ?2, ?3)", .bytes([0, 255]), .number(.min), .text("é"))
            try transaction.rows("INSERT INTO thing VALUES (?1, ?2, NULL)", .bytes([]), .number(.max))
            try transaction.rows("INSERT INTO part VALUES (1, ?1)", .bytes([0, 255]))
        }
        return store
    }

    private static func rows(_ store: any ServerStore) throws -> [[SQLRow]] {
        try store.transaction(.read) { transaction in
            [try transaction.rows("SELECT * FROM thing ORDER BY id"), try transaction.rows("SELECT * FROM part")]
        }
    }

    @Test("a backup that ends early or has a changed byte is refused, and no store is made")
    func damaged() async throws {
        let place = try await TestStore(.sqlite)
        let file = place.folder.file("backup"), broken = place.folder.file("broken")
        let store = try Self.sample(place)
        #expect(try ServerBackup.write(store, StoreTests.schema, to: file, now: 7) == 3)
        let bytes = try Data(contentsOf: URL(filePath: file))
        let target = StoreLocation(place.folder.file("target.db"))
        func expectRefused(_ bytes: Data, _ name: String) throws {
            try bytes.write(to: URL(filePath: broken))
            #expect(throws: BackupFault.self, "\(name)") { try ServerBackup.restore(broken, to: target, StoreTests.schema) }
            #expect(throws: StoreError.missing) { try target.open(StoreTests.schema, connections: 1) }
        }
        for count in 0..<bytes.count { try expectRefused(bytes.prefix(count), "\(count) bytes") }
        for place in bytes.indices {
            var changed = bytes
            changed[place] ^= 1
            try expectRefused(changed, "byte \(place)")
        }
        try expectRefused(bytes + [0], "one more byte")
        #expect(try ServerBackup.restore(file, to: target, StoreTests.schema) == 3)
        #expect(try Self.rows(try target.open(StoreTests.schema, connections: 1)) == Self.rows(store))
    }

    @Test("a damaged backup leaves the store of PostgreSQL empty")
    func damagedPostgres() async throws {
        let place = try await TestStore(.sqlite), target = try await TestStore(.postgres)
        let file = place.folder.file("backup")
        _ = try ServerBackup.write(try Self.sample(place), StoreTests.schema, to: file, now: 7)
        var bytes = try Data(contentsOf: URL(filePath: file))
        bytes[bytes.count - 1] ^= 1
        try bytes.write(to: URL(filePath: file))
        #expect(throws: BackupFault.damaged) { try ServerBackup.restore(file, to: target.location, StoreTests.schema) }
        #expect(throws: StoreError.missing) { try target.location.open(StoreTests.schema, connections: 1) }
    }

    @Test("a backup of an older version is restored with the tables of this one", arguments: StoreKind.allCases)
    func older(_ kind: StoreKind) async throws {
        let place = try await TestStore(.sqlite), target = try await TestStore(kind)
        let later = StoreSchema(
            steps: StoreTests.schema.steps + [
                ["CREATE TABLE copy (id BLOB NOT NULL PRIMARY KEY) STRICT", "INSERT INTO copy SELECT id FROM thing"]
            ])
        let file = place.folder.file("backup")
        _ = try ServerBackup.write(try Self.sample(place), StoreTests.schema, to: file, now: 7)
        #expect(try ServerBackup.restore(file, to: target.location, later) == 3)
        let store = try target.location.open(later, connections: 1)
        #expect(try store.transaction(.read) { try $0.row("SELECT count(*) FROM copy")?.number(0) } == 2)
        // The way back: an older server refuses what it does not know.
        let newer = place.folder.file("newer")
        _ = try ServerBackup.write(store, later, to: newer, now: 7)
        let old = StoreLocation(place.folder.file("old.db"))
        #expect(throws: BackupFault.laterVersion(2)) { try ServerBackup.restore(newer, to: old, StoreTests.schema) }
    }

    @Test("a backup has one state, while others write", arguments: StoreKind.allCases)
    func oneState(_ kind: StoreKind) async throws {
        let place = try await TestStore(kind), target = try await TestStore(.sqlite)
        let store = try Self.sample(place)
        try store.transaction(.write) { transaction in
            for id in Int64(2)..<200 { try transaction.rows("INSERT INTO part VALUES (?1, ?2)", .number(id), .bytes([0, 255])) }
        }
        let file = target.folder.file("backup")
        // Each writer moves all parts to the other thing: a mixture would show.
        async let written: [Void] = atOnce(2) { _ in
            for round in 0..<20 {
                let thing: [UInt8] = round % 2 == 0 ? [] : [0, 255]
                try store.transaction(.write) { try $0.rows("UPDATE part SET thing = ?1", .bytes(thing)) }
            }
        }
        for number in 0..<5 {
            _ = try ServerBackup.write(store, StoreTests.schema, to: file + "\(number)", now: 7)
            let copy = StoreLocation(target.folder.file("copy\(number).db"))
            _ = try ServerBackup.restore(file + "\(number)", to: copy, StoreTests.schema)
            let parts = try copy.open(StoreTests.schema, connections: 1).transaction(.read) { transaction in
                try transaction.row("SELECT count(*), count(DISTINCT thing) FROM part")
            }
            #expect(parts == SQLRow([.number(199), .number(1)]))
        }
        _ = try await written
    }

    @Test("of two servers on one database, one is killed: the other goes on")
    func twoServers() async throws {
        let store = try await TestStore(.postgres)
        let ran = try await script(
            """
            begin '\(store.text)'
            serve; first=$SERVER_PID first_url=$URL; serve
            trap 'kill -KILL $first $SERVER_PID || true' EXIT
            login one
            curl -s $first_url/healthz
            kill -KILL $first; wait $first || echo "killed $?"
            login two; server device ls | cut -f 3 | sort; curl -s $URL/healthz
            end_server; echo "ended $?"
            """)
        #expect(
            ran.output == """
                1
                ok
                killed 137
                1
                one
                two
                ok
                ended 0

                """, "\(ran)")
    }

    @Test("the doctor finds nothing in a good server, and names what is wrong in a bad one")
    func doctor() async throws {
        let ran = try await script(
            """
            certificate() { openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $1.key -out $1.pem \\
                -days $2 -subj /CN=localhost 2> /dev/null; }
            finds() { server doctor > out 2> err && echo none || { echo $?; grep finding out | sed "s|$HOME|HOME|g; s|[0-9]* days|N days|"; }; }
            certificate good 90; certificate short 3; certificate other 90
            finds
            server init --url https://127.0.0.1:8443 --certificate "$PWD/good.pem" --key "$PWD/good.key" > /dev/null
            finds; cut -f 1,2 out
            cp server/settings.json saved
            sed -i 's/good/short/' server/settings.json; finds
            sed 's/good.key/other.key/' saved > server/settings.json; finds
            cp saved server/settings.json; chmod 644 server/settings.json; finds; chmod 600 server/settings.json
            touch -d 'now + 1 hour' server/settings.json; finds; touch server/settings.json
            server backup whole > /dev/null
            printf 'nothing of SQLite, but as long as a header' | dd of=server/store.db conv=notrunc status=none; finds
            rm server/store.db*; finds; server restore whole > /dev/null; finds
            """)
        #expect(
            ran.output == """
                42
                settings\tfinding\t"HOME/server/settings.json" is not there
                none
                settings\tok
                certificate\tok
                store\tok
                disk\tok
                42
                certificate\tfinding\tit expires in N days
                42
                certificate\tfinding\tcannot use "HOME/good.pem" with its key "HOME/other.key"
                42
                settings\tfinding\tanother user can change "HOME/server/settings.json"
                42
                clock\tfinding\tthe settings are from the future; is the clock right?
                42
                store\tfinding\tthe store is damaged
                42
                store\tfinding\tthere is no store yet
                none

                """, "\(ran)")
    }

    @Test(
        "the doctor names a database that does not wait for its disk, and a database that cannot be reached, without the password"
    )
    func doctorPostgres() async throws {
        let store = try await TestStore(.postgres)
        let ran = try await script(
            """
            begin '\(store.text)'
            server doctor > out 2> err || echo $?; cat out err | grep -o '[a-z_]* off'
            sed -i 's|postgres://omvault@|postgres://omvault:geheim@localhost:1|' server/settings.json
            sed -i 's|host=[^&]*|connect_timeout=1|' server/settings.json
            server doctor > out 2> err || echo $?; grep store out; cat out err | grep -c geheim || true
            """)
        #expect(
            ran.output == """
                42
                fsync off
                full_page_writes off
                42
                store\tfinding\tthe database cannot be reached, or the connection ended
                0

                """, "\(ran)")
    }

    @Test("migrate leaves a store of this version as it is, and needs one")
    func migrate() async throws {
        let ran = try await script(
            """
            begin store.db; code server migrate; server user ls | cut -f 1; rm server/store.db; code server migrate
            echo nonsense > garbage; code server restore garbage; code server restore nothing
            """)
        #expect(
            ran.output == """
                0
                the tables have version 1 already
                ana
                9 there is no store yet
                30 "garbage" is not a backup of a server
                10 "nothing" is not there

                """, "\(ran)")
    }

    @Test("the systemd unit is well-formed, and gives the server little")
    func unit() async throws {
        let folder = try TestFolder()
        let unit = URL(filePath: #filePath).appending(path: "../../../docs/systemd/omvault-server.service").standardizedFileURL
        // The program may not be installed here.
        let text = try String(contentsOf: unit, encoding: .utf8).replacing("/usr/local/bin/omvault-server", with: "/bin/true")
        let file = try folder.write(text, to: "omvault-server.service")
        let verified = try await run(["/usr/bin/systemd-analyze", "verify", file], in: folder)
        #expect(verified.status == 0 && verified.errors.isEmpty, "\(verified)")
        let rated = try await run(
            ["/usr/bin/systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", file], in: folder)
        #expect(rated.status == 0 && rated.output.contains("Overall exposure level"), "\(rated)")
    }
}
#endif
