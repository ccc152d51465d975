internal import ArgumentParser
internal import OMAgent
internal import OMAuth
internal import OMJSON
internal import OMSecrets
internal import OMShell

/// `omvault helper kubectl`: a credential plugin of kubectl.
struct KubectlHelper: Verb {
    static let configuration = CommandConfiguration(
        commandName: "kubectl",
        abstract: "A credential plugin of kubectl.",
        discussion: """
            kubectl starts this command as the 'exec' of a user in its configuration, and reads an ExecCredential. It must say which
            cluster it asks: set provideClusterInfo to true. The cluster's server must be in RESTOrigins (13). Nothing is ever asked
            at the terminal, so a profile with TokenRelease=confirm ends with 8.

              kubectl config set-credentials work --exec-api-version=client.authentication.k8s.io/v1 \\
                  --exec-provide-cluster-info=true --exec-interactive-mode=Never --exec-command=omvault \\
                  --exec-arg=helper --exec-arg=kubectl --exec-arg=--profile --exec-arg=work
              omvault helper kubectl --profile work
            """)

    @OptionGroup var typed: GlobalOptions

    @OptionGroup var options: HelperOptions

    var global: GlobalOptions {
        var global = typed
        global.noInput = true
        return global
    }

    func run(_ context: CommandContext) throws {
        let (version, server) = try Self.request()
        let token = try HelperToken(options, context)
        guard token.isFor(server) else {
            let name = token.profile.name.text
            throw Failure(
                .policy, "the cluster \(server.shortOrigin) gets no token of profile \"\(name)\"",
                hint: "omvault profile set \(name.asShellWord) RESTOrigins=\(server.shortOrigin)   (only https, or this machine)")
        }
        let found = try token.get()
        var answer = SecretBuffer(capacity: 4096)
        let end = found.token.end.map { #""expirationTimestamp":"\#(Timestamp.text($0))","# } ?? ""
        let start = #"{"apiVersion":"\#(version)","kind":"ExecCredential","status":{\#(end)"token":""#
        try found.token.append(to: &answer, before: start, after: "\"}}\n", escaping: "\"\\")
        try context.output.writeSecret(answer.finish())
    }

    private static let variable = "KUBERNETES_EXEC_INFO"
    private static let versions = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"]

    /// The version that kubectl reads, and the server of its cluster.
    private static func request() throws(Failure) -> (version: String, ServerURL) {
        guard let text = Environment.text(variable) else {
            throw Failure(.usage, "\(variable) is not set", hint: "kubectl starts this command itself and sets it")
        }
        guard text.utf8.count <= 1 << 20, let members = try? JSON(parsing: text.utf8Span.span).members,
            members["kind"]?.text == "ExecCredential"
        else { throw Failure(.usage, "\(variable) is no ExecCredential", hint: "kubectl starts this command itself and sets it") }
        guard let version = members["apiVersion"]?.text, versions.contains(version) else {
            throw Failure(
                .unsupported, "\(variable) has another apiVersion than \(versions.joined(separator: " or "))",
                hint: "set --exec-api-version=\(versions[0])")
        }
        guard let address = members["spec"]?.members?["cluster"]?.members?["server"]?.text, let server = ServerURL(address) else {
            throw Failure(
                .policy, "kubectl does not say which cluster the token is for",
                hint: "set provideClusterInfo: true in its configuration")
        }
        return (version, server)
    }
}
