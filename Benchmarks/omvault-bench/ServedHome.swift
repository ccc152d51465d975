// A home with a session, and servers on loopback for it: those of the tests.

internal import Glibc
internal import OMAgent
internal import OMAgentProtocol
internal import OMOnlineModel
internal import OMVault

/// A user's home folder with an open vault and a session, and two servers: for tokens, and nginx.
final class ServedHome {
    let omvault: Program
    let agent: String
    let curl: String
    /// A small page of nginx, over plain http.
    let page: String
    private let folder: TemporaryFolder
    private let tokens: TestServer
    private let web: TestServer

    init(_ options: Options, _ folder: TemporaryFolder) throws(BenchError) {
        self.folder = try folder.subfolder("served")
        tokens = try TestServer("odd", options, in: self.folder)
        web = try TestServer("nginx", options, in: self.folder)
        var omvault = try StartRows.omvault(options, home: self.folder.path)
        omvault.variables = ["XDG_RUNTIME_DIR=\(try self.folder.subfolder("run").path)"]
        self.omvault = omvault
        agent = "\(omvault.path)-agent"
        curl = options.curl
        page = "http://127.0.0.1:\(try web.fact("plain"))/open"
        let password = try self.folder.write("password", Array("correct horse 42".utf8))
        let given = ["--password-from", "file:\(password)"]
        try omvault.run(["init", "--no-recovery"] + given)
        try omvault.run(["unlock"] + given)
        try omvault.run(["add", "item", "--field", "password=file:\(password)"])
        for (name, kind) in [("work", "plain"), ("spent", "first-only")] {
            try omvault.run([
                "profile", "set", name, "AuthServerType=OAuthAuthentication", "OAuthAuthZGrantType=OAuthResourceOwner",
                "OAuthClientID=omvault", "TokenRelease=allow",
                "OAuthTokenEndpoint=http://127.0.0.1:\(try tokens.fact("http"))/token?as=\(kind)",
            ])
        }
        // A certificate of its own makes the key an identity.
        try omvault.run(["cert", "csr", "bench", "--subject", "CN=bench", "-o", "\(self.folder.path)/csr"])
        let key = "\(self.folder.path)/ca.key", authority = "\(self.folder.path)/ca.crt", own = "\(self.folder.path)/bench.crt"
        let openssl = Program(path: options.openssl)
        try openssl.run([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", authority,
            "-subj", "/CN=ca",
        ])
        try openssl.run([
            "x509", "-req", "-in", "\(self.folder.path)/csr", "-CA", authority, "-CAkey", key, "-CAcreateserial", "-out", own,
        ])
        try omvault.run(["cert", "attach", "bench", own])
        try logIn("work")
        try omvault.run(["token", "get", "work"])
    }

    /// Logs alice in.
    func logIn(_ profile: String) throws(BenchError) {
        try omvault.run(["login", "alice", "--profile", profile, "--password-from", "file:\(folder.path)/password"])
    }

    /// The seconds in which the agent signs the text of a handshake.
    func timeSignature(_ text: [UInt8]) throws(BenchError) -> Double {
        let vault = "\(folder.path)/.local/share/omvault/personal.omv", device = "\(folder.path)/.local/state/omvault-device"
        guard let paths = VaultPaths(vault: vault, device: device) else { throw BenchError("\(vault) is too long") }
        do {
            let client = AgentClient(try AgentSocket(path: "\(folder.path)/run/omvault/agent.sock"))
            let start = Clock.now
            _ = try client.sign(.handshake(text: text, scheme: 0x0403), with: "bench", in: paths)
            return Clock.now - start
        } catch { throw BenchError("\(error)") }
    }

    func end() {
        try? omvault.run(["agent", "stop"])
        tokens.end()
        web.end()
    }
}

/// A server of Tests/Servers. It ends when its standard input does.
private final class TestServer {
    private let input: Int32
    private let facts: String

    init(_ kind: String, _ options: Options, in folder: TemporaryFolder) throws(BenchError) {
        let place = "\(folder.path)/\(kind)"
        guard mkfifo("\(place).in", 0o600) == 0 else { throw BenchError("cannot make a pipe in \(folder.path)") }
        try Program(path: "/bin/sh").run([
            "-c", #""$0" "$1" "$2" "$3" < "$3.in" > "$3.out" 2>&1 &"#, options.python, options.serve, kind, place,
        ])
        input = open("\(place).in", O_WRONLY | O_CLOEXEC)
        guard input >= 0 else { throw BenchError("cannot open a pipe in \(folder.path)") }
        for _ in 0..<3_000 {
            let text = (try? TemporaryFolder.read("\(place).out")) ?? ""
            if text.hasSuffix("ready\n") {
                facts = text
                return
            }
            usleep(10_000)
        }
        throw BenchError("the server \(kind) did not start: \((try? TemporaryFolder.read("\(place).out")) ?? "")")
    }

    func fact(_ name: String) throws(BenchError) -> String {
        for line in facts.split(separator: "\n") where line.hasPrefix("\(name)=") {
            return String(line.dropFirst(name.utf8.count + 1))
        }
        throw BenchError("the server has no \(name)")
    }

    func end() { close(input) }
}
