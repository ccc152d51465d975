// Where the devices of a test sync: a folder, or a server. docs/formats/sync.md, "Over HTTP".

import TestSupport
import Testing

enum SyncPlace: String, CaseIterable, CustomTestStringConvertible {
    case folder
    /// Tests/Servers/sync.py, which can also break the rules. Like omvault-server it was written from the page.
    case python
    /// omvault-server.
    case real

    static var servers: [SyncPlace] { Programs.server == nil ? [.python] : [.python, .real] }
    /// A folder and a server.
    static var each: [SyncPlace] { [.folder, Programs.server == nil ? .python : .real] }

    var testDescription: String { rawValue }

    /// Commands take `"$place" "${login[@]}"` for a remote. `begin` sets both, starts a server, and sets `url` to its address.
    /// `messages` lists the messages of pairings that are there. The script runs the commands in `at_end` when it ends.
    private var start: String {
        switch self {
        case .folder:
            """
            at_end=; trap '{ eval "$at_end"; } 2> /dev/null || true' EXIT
            begin() { mkdir -p stick; place=stick login=(); }
            messages() { find stick/*/mail -type f; }

            """
        case .python:
            Server.shell + """
                begin() { serve sync; account=alice url=$secure; as_account; }
                messages() { :; }

                """
        case .real:
            Server.shell + """
                begin() {
                    account=alice
                    "$OMVAULT_SERVER" init --data server --url http://127.0.0.1:8080 --listen 127.0.0.1:0 > /dev/null
                    "$OMVAULT_SERVER" user add --data server alice < account.pw > /dev/null
                    at_end="${at_end:-:}; stop_server"
                    start_server
                    as_account
                }
                listens() { grep -qs '"event":"listening"' server.log; }
                start_server() {
                    # What an earlier one said must not count for this one.
                    rm -f server.log
                    "$OMVAULT_SERVER" serve --data server 2> server.log & server=$!
                    while_runs $server listens
                    server_port=$(sed -nE 's/.*"event":"listening".*"port":([0-9]+).*/\\1/p' server.log)
                    url=http://127.0.0.1:$server_port
                }
                stop_server() { kill $server; wait $server; }
                messages() { sqlite3 server/store.db 'SELECT hex(mailbox), number FROM remote_message'; }

                """
        }
    }

    private static let account = """
        printf 'correct horse 42' > account.pw
        as_account() { place=$url login=(--user "$account" --account-password-from file:account.pw ${ca:+--ca "$ca"}); }

        """

    /// The beginning of a script that syncs here, behind its functions.
    func script(_ devices: String) -> String { start + Self.account + devices + "begin\n" }

    var environment: [String: String] {
        get async throws {
            guard self != .folder else { return [:] }
            return try await Server.environment.merging(Programs.server.map { ["OMVAULT_SERVER": $0] } ?? [:]) { $1 }
        }
    }

    /// Runs a script that has the functions of `devices`.
    func run(_ devices: String, _ script: String) async throws -> Ran {
        try await bash(self.script(devices) + script, environment: try await environment)
    }
}
