// The waits that a user notices: the start of the command, and a verb that stretches a password.

internal import OMSecrets

enum StartRows {
    static func all(_ options: Options, _ folder: TemporaryFolder) -> [Row] {
        [
            Row(
                name: "start, --version", unit: .time, asked: .ratio(1.0),
                ours: .init(label: "omvault") { () throws(BenchError) in try omvault(options).time(["--version"]) },
                peer: .init(label: "age") { () throws(BenchError) in
                    try Program(path: options.age).time(["--version"])
                }),
            scale("start, --version, beside nothing", options, "/bin/true"),
            scale("start, --version, beside pass", options, options.pass, ["version"]),
            scale("start, --version, beside keepassxc-cli", options, options.keepassxc, ["--version"]),
            Row(
                name: "login check, offline", unit: .time, asked: .plus(0.012),
                ours: .init(label: "omvault login check") { () throws(BenchError) in
                    let home = try Home.shared(options, folder)
                    return try home.omvault.time(
                        ["login", "check", "ada", "--profile", "work", "--password-from", "file:\(home.password)"])
                },
                peer: .init(label: "Argon2id, in process") { () throws(BenchError) in try StretchRows.stretch() }),
        ]
    }

    private static func scale(_ name: String, _ options: Options, _ peer: String, _ arguments: [String] = []) -> Row {
        Row(
            name: name, unit: .time, asked: .nothing,
            ours: .init(label: "omvault") { () throws(BenchError) in try omvault(options).time(["--version"]) },
            peer: .init(label: peer) { () throws(BenchError) in try Program(path: peer).time(arguments) })
    }

    static func omvault(_ options: Options, home: String? = nil) throws(BenchError) -> Program {
        guard let path = options.omvault else { throw BenchError("--omvault PATH is not given") }
        return Program(path: path, home: home)
    }
}

/// A home folder with a login of the standard cost.
private struct Home {
    let omvault: Program
    let password: String

    /// The result of the only attempt to make it. A second attempt would fail, because the first one's files exist.
    nonisolated(unsafe) private static var made: Result<Home, BenchError>?

    /// The home. It is made when the first row asks for it.
    static func shared(_ options: Options, _ folder: TemporaryFolder) throws(BenchError) -> Home {
        if let made { return try made.get() }
        do throws(BenchError) {
            let home = try make(options, folder)
            made = .success(home)
            return home
        } catch {
            made = .failure(error)
            throw error
        }
    }

    private static func make(_ options: Options, _ folder: TemporaryFolder) throws(BenchError) -> Home {
        let home = Home(
            omvault: try StartRows.omvault(options, home: folder.path),
            password: try folder.write("password", Array("correct horse battery staple".utf8)))
        let given = ["--password-from", "file:\(home.password)"]
        try home.omvault.run(["profile", "set", "work", "OfflineAuthAllowed=true", "MaxLoginAttempts=3"])
        try home.omvault.run(["login", "enroll", "ada", "--profile", "work"] + given)
        return home
    }
}
