// omvault-server, for tests that are no scripts.

/// A server with one account. It ends when the test releases it.
public final class RealServer: Sendable {
    public static let user = "alice"
    public static let password = "correct horse 42"

    private static let script = #"""
        set -e
        "$0" init --data data --url http://127.0.0.1:8080 --listen 127.0.0.1:0 > /dev/null
        "$0" user add --data data "$1" <<< "$2" > /dev/null
        "$0" serve --data data > /dev/null 2> log & server=$!
        trap 'kill $server; wait $server' EXIT
        listens() { grep -qs '"event":"listening"' log; }
        while_runs $server listens
        sed -nE 's/.*"event":"listening".*"port":([0-9]+).*/\1/p' log
        # The test releases it.
        while read -r; do :; done
        """#

    public let url: String
    /// The folder with its store.
    public let data: String
    private let program: Companion

    public init(_ server: String) async throws {
        let folder = try TestFolder()
        program = try Companion(
            ["/bin/bash", "-c", Self.script, server, Self.user, Self.password], in: folder,
            environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "BASH_ENV": Programs.scriptPrelude])
        data = folder.file("data")
        guard let port = await program.line() else { throw NotStarted(program: server, reason: "no port") }
        url = "http://127.0.0.1:\(port)"
    }
}
