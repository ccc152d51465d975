internal import ArgumentParser
internal import OMAgent
internal import OMParcels
internal import OMSecrets
internal import OMShell
internal import OMSystem

/// The options of commands that log in at the server of a remote.
struct ServerLoginOptions: ParsableArguments {
    static let passwordOption = "--account-password-from"

    @Option(help: ArgumentHelp("The account at a server.", valueName: "name"))
    var user: String?

    @Option(
        help: ArgumentHelp("A PEM file: the only certificates to trust for this server.", valueName: "file"),
        completion: .file())
    var ca: String?

    @Option(help: ArgumentHelp("Where the password of the account comes from.", valueName: "source"))
    var accountPasswordFrom: SecretSourceArgument?

    var sources: [(key: String, value: SecretSourceArgument?)] { [(key: Self.passwordOption, value: accountPasswordFrom)] }

    /// Logs in, if the place is a server.
    ///
    /// - Parameters:
    ///   - before: The login that this device had there. It gives the user and the certificates that were not given.
    ///   - device: What the server calls this device.
    func logIn(
        at place: RemotePlace, _ secrets: borrowing SecretSources, device: DeviceName, before: ServerLogin? = nil
    ) throws(Failure) -> RemotePlace {
        guard place.isServer else {
            guard user == nil, ca == nil, accountPasswordFrom == nil else {
                throw Failure(usage: "--user, --ca and \(Self.passwordOption) are for a server, and not for a folder")
            }
            return place
        }
        guard let user = user ?? before?.user else {
            throw Failure(.usage, "no user given for \(place.words)", hint: "--user NAME is the account there")
        }
        guard (1...ServerLogin.maximumUser).contains(user.utf8.count) else {
            throw Failure(usage: "--user takes a name of 1 to \(ServerLogin.maximumUser) bytes")
        }
        let trusted = try ca.map { file throws(Failure) in try Self.certificates(file) } ?? before?.trusted ?? []
        let password = try secrets.readPassword(Self.passwordOption, prompt: "Password of \(user) at the server")
        return place.loggedIn(
            try place.logIn(user, password: password.bytes.duplicate(), trusting: trusted, device: device.text))
    }

    private static func certificates(_ file: String) throws(Failure) -> [UInt8] {
        let path = AbsolutePath.absolute(file)
        let pem: [UInt8]
        do throws(StorageError) { pem = try TrustedAuthorities.read(path) } catch { throw Failure(error).about(path) }
        guard !pem.isEmpty, pem.count <= ServerLogin.maximumTrusted else {
            throw Failure(
                .config, "\"\(path.shown)\" is empty, or longer than 64 KiB", hint: "name the certificates of one server")
        }
        return pem
    }
}
