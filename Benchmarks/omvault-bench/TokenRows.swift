// Access tokens and requests to web services, beside oidc-agent and curl, with servers on loopback.

internal import Glibc
internal import OMAgent
internal import OMAuth
internal import OMCrypto
internal import OMOnlineModel

enum TokenRows {
    static func all(_ options: Options, _ folder: TemporaryFolder) -> [Row] {
        let world = TokenWorld(options, folder)
        return [
            Row(
                name: "token get, beside get", unit: .time, asked: .ratio(1.05), ours: token(world),
                peer: .init(label: "omvault get") { () throws(BenchError) in
                    let home = try world.home()
                    return try home.omvault.time(["get", "item:password"])
                }),
            // Without an account it asks its agent nothing, so this is its start alone.
            Row(
                name: "token get, beside oidc-token", unit: .time, asked: .ratio(1.5), ours: token(world),
                peer: .init(label: "oidc-token, no account") { () throws(BenchError) in
                    var program = Program(path: options.oidcToken)
                    program.status = 1
                    return try program.time(["none"])
                }),
            Row(
                name: "rest, one GET", unit: .time, asked: .ratio(2.0),
                ours: .init(label: "omvault rest") { () throws(BenchError) in
                    let home = try world.home()
                    return try home.omvault.time(["rest", "GET", home.page])
                },
                peer: curl(world, 1)),
            Row(
                name: "rest, 50 GETs over one connection", unit: .time, asked: .ratio(1.2),
                ours: .init(label: "RESTClient") { () throws(BenchError) in try fifty(world.home()) },
                peer: curl(world, 50)),
            Row(
                name: "start of a helper", unit: .time, asked: .atMost(0.010),
                ours: .init(label: "omvault-agent --request") { () throws(BenchError) in
                    var helper = Program(path: try world.home().agent)
                    // Without a socket it ends once it has started. Without this variable it would start twice.
                    helper.status = 2
                    helper.variables = ["GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.perturb=90"]
                    return try helper.time(["--request"])
                }, peer: nil),
            Row(
                name: "a spent refresh token is told", unit: .time, asked: .atMost(10),
                ours: .init(label: "omvault token get") { () throws(BenchError) in
                    let home = try world.home()
                    try home.logIn("spent")
                    var omvault = home.omvault
                    omvault.status = 51
                    return try omvault.time(["token", "get", "spent", "--fresh"])
                }, peer: nil),
            Row(
                name: "handshake: the agent's signature", unit: .time, asked: .plus(0.003),
                ours: .init(label: "the agent") { () throws(BenchError) in try world.home().timeSignature(text) },
                peer: .init(label: "a key in process, P-256") { () throws(BenchError) in
                    do {
                        let key = try PrivateKey.generate(.ec(.p256)), text = text
                        let start = Clock.now
                        _ = try key.sign(text, .ecdsa(.sha256))
                        return Clock.now - start
                    } catch { throw BenchError("\(error)") }
                }),
        ]
    }

    /// What a client signs in a handshake of TLS 1.3.
    private static let text = SigningPurpose.handshakePrefix + [UInt8](repeating: 7, count: 32)

    /// Ends the processes that were started for these rows.
    static func end() { TokenWorld.shared?.end() }

    private static func token(_ world: TokenWorld) -> Row.Side {
        .init(label: "omvault token get") { () throws(BenchError) in
            let home = try world.home()
            return try home.omvault.time(["token", "get", "work"])
        }
    }

    private static func curl(_ world: TokenWorld, _ count: Int) -> Row.Side {
        .init(label: count == 1 ? "curl" : "curl, \(count) addresses") { () throws(BenchError) in
            let home = try world.home()
            return try Program(path: home.curl).time(["-s"] + Array(repeating: home.page, count: count))
        }
    }

    private static func fifty(_ home: ServedHome) throws(BenchError) -> Double {
        guard let address = ServerURL(home.page) else { throw BenchError("\(home.page) is no address") }
        let start = Clock.now
        do {
            let client = RESTClient(program: home.agent)
            for _ in 0..<50 {
                let response = try client.sendBlocking(try RESTRequest("GET", address))
                while try response.nextPieceBlocking() != nil {}
                guard response.status == 200 else { throw BenchError("the server said \(response.status)") }
            }
        } catch let error as BenchError { throw error } catch { throw BenchError("\(error)") }
        return Clock.now - start
    }
}

/// The home that the rows share. It is made when the first row asks for it.
private final class TokenWorld {
    /// For ``TokenRows/end()``.
    nonisolated(unsafe) static var shared: TokenWorld?

    private let options: Options
    private let folder: TemporaryFolder
    private var made: Result<ServedHome, BenchError>?

    init(_ options: Options, _ folder: TemporaryFolder) {
        (self.options, self.folder) = (options, folder)
        Self.shared = self
    }

    func home() throws(BenchError) -> ServedHome {
        if let made { return try made.get() }
        do throws(BenchError) {
            let home = try ServedHome(options, folder)
            made = .success(home)
            return home
        } catch {
            made = .failure(error)
            throw error
        }
    }

    func end() { try? made?.get().end() }
}
