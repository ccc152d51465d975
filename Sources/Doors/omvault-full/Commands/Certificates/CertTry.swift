internal import ArgumentParser
internal import OMAgent
internal import OMAuth
internal import OMCrypto
internal import OMOnlineModel
internal import OMShell
internal import OMVault

/// `omvault cert try`: what a server does with an identity.
struct CertTry: Verb {
    static let configuration = CommandConfiguration(
        commandName: "try",
        abstract: "Try a client certificate at a server.",
        discussion: """
            Asks for the page twice, without the certificate and with it, and says what the server did: whether it asks for a
            certificate, and whether it takes this one. Nothing else is sent, and nothing is kept. Try it before you make a profile.

            The exit code is 0 if the server takes the certificate, 51 if it refuses it, and 52 if it never asks for one. The private
            key stays in the agent, so the vault must be unlocked there (7).

              omvault cert try db https://db.example.org/login
              omvault cert try db https://db.example.org/login --trusted-ca ca.pem
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The identity.", completion: .identities)
    var name: String

    @Argument(help: "The address: https.")
    var url: String

    @OptionGroup var trust: TrustedCAOption

    @Flag(name: .customLong("tls12"), help: "Show the certificate in TLS 1.2 too, where others on the network can read it.")
    var allowsTLS12 = false

    var printsRows: Bool { true }

    func run(_ context: CommandContext) throws {
        guard let address = ServerURL(url), address.isSecure else {
            throw Failure(.usage, "the address is no https address", hint: "a certificate is shown in TLS only")
        }
        let trusted = try trust.read()
        let program = try AgentLauncher.program()
        let access = try VaultAccess(context)
        let identity = try OpenIdentities(context, access).identity(name, allowsTLS12: allowsTLS12)
        let key = try access.identity(name).certificate?.description().keyKind
        let trial: CertificateTrial
        do throws(OnlineRefusal) {
            trial = try OnlineProvider(program: program, showing: identity.chain, signing: identity.signer).tryCertificate(
                at: address.text, trusting: trusted)
        } catch { throw Failure(trying: error, name) }
        let facts = Facts(trial: trial, name: name, address: address, key: key.map { "\($0.name), \($0.bits) bits" } ?? "")
        try facts.print(context.output)
        if let failure = facts.failure { throw failure }
    }

    private struct Facts {
        let trial: CertificateTrial
        let name: String
        let address: ServerURL
        let key: String

        func print(_ output: Output) throws(Failure) {
            let version = trial.isTLS13 ? "1.3" : "1.2"
            guard output.format == .json else {
                var rows = [
                    ["asks", trial.asking.words], ["without", trial.without.words], ["with", trial.with.words],
                    ["TLS", version], ["key", key],
                ]
                if trial.asking != .never { rows.append(["result", trial.isAccepted ? "accepted" : "refused"]) }
                return try output.rows(rows, header: ["FACT", "VALUE"])
            }
            var document = JSONDocument()
            document.field("name", .text(name))
            document.field("url", .text(address.text))
            document.field("asks", .text(trial.asking.name))
            document.field("status_without", trial.without.status)
            document.field("status_with", trial.with.status)
            document.field("accepted", .flag(trial.isAccepted))
            document.field("tls", .text(version))
            document.field("key", .text(key))
            try output.document(document)
        }

        /// Nil if the server takes the certificate.
        var failure: Failure? {
            if trial.asking == .never {
                return Failure(
                    .remoteError, "the server asks for no client certificate at this address",
                    hint: "another address of the server may ask; its administrator knows"
                ).with(sdkCode: OnlineFailure.certificateNotAsked.sdkCode)
            }
            guard !trial.isAccepted else { return nil }
            return Failure(
                .remoteAuth, "the server refuses the client certificate",
                hint: "'omvault cert show \(name.asShellWord)' shows it: the server must trust its authority and know its subject"
            ).with(sdkCode: OnlineFailure.certificateRefused.sdkCode)
        }
    }
}

extension CertificateTrial.Asking {
    fileprivate var words: String {
        switch self {
        case .never: "for no certificate"
        case .optional: "for a certificate, and takes clients without one"
        case .demanded: "for a certificate, and refuses clients without one"
        }
    }

    fileprivate var name: String {
        switch self {
        case .never: "never"
        case .optional: "optional"
        case .demanded: "demanded"
        }
    }
}

extension CertificateTrial.Outcome {
    fileprivate var words: String {
        switch self {
        case .alert: "refused by an alert of TLS"
        case .status(let status): "status \(status)"
        }
    }

    /// Null for an alert.
    fileprivate var status: JSONValue {
        switch self {
        case .alert: .null
        case .status(let status): .number(Int(status))
        }
    }
}

extension Failure {
    /// No answer came, or none that says something about the certificate.
    fileprivate init(trying refusal: OnlineRefusal, _ name: String) {
        switch refusal {
        case .untrusted(let cause):
            self.init(
                .remoteError, "the server did not prove who it is, so the certificate was not shown: \(cause.words)",
                hint: "--trusted-ca FILE names the authorities to trust")
        case .failed(.oldTLS, _, _):
            self.init(
                .remoteError, "the server does not speak TLS 1.3, so the certificate was not shown",
                hint: "--tls12 shows it in TLS 1.2 too, where others on the network can read it")
        default: self = Failure(refusal)
        }
    }
}
