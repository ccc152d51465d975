// What omvault says to a line that it does not understand: never help with exit 0, and a hint that is true.

import TestSupport
import Testing

@testable import omvault

@Suite("Usage errors") struct UsageErrorTests {
    private static let vault =
        "printf pw > pw; omvault -q init --no-recovery --kdf-mem 8 --kdf-time 1 --password-from file:pw; "

    /// Runs a line that has to fail.
    private func refused(_ line: String, _ status: Int32 = 2, _ location: SourceLocation = #_sourceLocation) async throws
        -> String
    {
        let ran = try await bash(line)
        #expect(ran.status == status, "\(ran.output)\(ran.errors)", sourceLocation: location)
        #expect(ran.output == "", sourceLocation: location)
        return ran.errors
    }

    @Test(
        "several letters behind one dash are a usage error and never help, and are not repeated: they may be a secret",
        arguments: [
            "printf x | omvault add -dash --field p=stdin", "omvault get -hidden", "omvault rm -rh", "omvault -hello",
            "omvault get --vault -dash x", "omvault login check -phunter2h", "omvault crypto hash -oh",
        ])
    func clusters(line: String) async throws {
        let errors = try await refused(line)
        #expect(errors.hasPrefix("omvault: error: ") && errors.contains("--help"))
        #expect(!errors.contains("hunter2"))
    }

    @Test("an item that begins with a dash stands behind --, and the error says so")
    func behindDashes() async throws {
        #expect(
            try await refused("omvault add -dash") == """
                omvault: error: unknown option -d…
                omvault: hint: omvault add --help
                omvault: hint: write a name that begins with a dash after --: omvault add -- NAME

                """)
        #expect(try await refused("omvault get -x").contains("omvault get -- NAME"))
        #expect(try CommandLineArguments(["get", "-qh"], root: CommandTree.self).arguments == ["get", "-qh"])
        #expect(try await bash("omvault exit-codes -qh").output.contains("OVERVIEW"))
        #expect(try await refused("omvault get -help").contains("did you mean --help?"))
    }

    @Test("-v and a bare -V lead to --version, and -V needs a vault")
    func version() async throws {
        #expect(try await refused("omvault -v").contains("hint: did you mean --version?"))
        #expect(
            try await refused("omvault -V") == """
                omvault: error: -V needs the name or the path of a vault
                omvault: hint: the version: omvault --version

                """)
        #expect(try await refused("omvault --format").contains("formats: table, plain, json"))
    }

    @Test(
        "a command of another tool is answered with ours, or with the way round",
        arguments: [
            ("list", "did you mean \"ls\"?"), ("show github", "did you mean \"get\"?"), ("delete x", "did you mean \"rm\"?"),
            ("insert x", "did you mean \"add\"?"), ("passwd", "did you mean \"key passwd\"?"),
            ("encrypt", "did you mean \"crypto encrypt\"?"), ("slots", "did you mean \"key slots\"?"),
            ("edit x", "omvault set ITEM:FIELD"), ("mv a b", "cmd:'omvault get OLD:password'"), ("cp a b", "omvault add NEW"),
            ("pwgen", "did you mean \"gen\"?"), ("clip x", "wl-copy"), ("totp x", "did you mean \"otp\"?"),
            ("import f", "omvault add ITEM"),
            ("export", "--reveal --json"), ("run -- x", "| PROGRAM"), ("gett", "did you mean \"get\"?"),
        ])
    func otherTools(line: String, hint: String) async throws {
        let errors = try await refused("omvault \(line)")
        let lines = errors.split(separator: "\n")
        #expect(lines.count == 2 && lines[0].hasPrefix("omvault: error: no command \"\(line.prefix { $0 != " " })\""))
        #expect(lines[1].contains(hint), "\(errors)")
        #expect(lines[0].hasSuffix(" yet") != lines[1].contains("did you mean"))
    }

    @Test("a suggestion stands in the hint, for an option as for a command")
    func suggestions() async throws {
        #expect(
            try await refused("omvault ls --trsh") == """
                omvault: error: unknown option '--trsh'
                omvault: hint: did you mean '--trash'?  (omvault ls --help)

                """)
        #expect(try await refused("omvault --jsn ls").contains("hint: did you mean --json?"))
        #expect(try await refused("omvault key slotz").contains("hint: did you mean \"key slots\"?"))
    }

    @Test("an error of several lines is one line, without a printed newline")
    func completionShell() async throws {
        for line in [
            "omvault --generate-completion-script tcsh", "omvault --generate-completion-script", "omvault completion tcsh",
        ] {
            let errors = try await refused(line)
            #expect(errors.contains("bash") && !errors.contains(#"\n"#), "\(errors)")
        }
    }

    @Test("where nobody can be asked, the error names what is needed and the option as it is typed")
    func needed() async throws {
        let vault = "export OMVAULT_NO_INPUT=1; " + Self.vault
        #expect(
            try await refused(vault + "omvault ls", 8) == """
                omvault: error: the password for vault "personal" is needed, and --no-input forbids asking
                omvault: hint: give --password-from stdin, or another source: fd:N, file:PATH, env:NAME, cmd:PROGRAM or cred:NAME

                """)
        let field = try await refused(vault + "omvault add x --password-from file:pw --field Token=tty", 8)
        #expect(field.contains("the Token of \"x\" is needed") && field.contains("give --field Token=stdin, or another"))
        let credential = try await refused(vault + "omvault credential add k --vault-password-from file:pw", 8)
        #expect(credential.contains("give --password-from stdin"), "\(credential)")
        #expect(try await refused(vault + "omvault credential ls", 8).contains("give --vault-password-from stdin"))
        let shown = try await atTerminal(Self.vault + "omvault add x --password-from file:pw --field notes=stdin")
        #expect(shown.output.contains("--field notes=tty asks for it without showing it"), "\(shown.output)")
    }

    @Test("~ in the middle of a word is explained")
    func tilde() async throws {
        let errors = try await refused("omvault init --password-from file:~/pw", 60)
        #expect(errors.contains("cannot read ~/pw") && errors.contains(#"file:"$HOME"/pw"#), "\(errors)")
    }

    @Test("get takes a field as ITEM:FIELD and as --field")
    func fieldOption() async throws {
        let vault =
            Self.vault
            + "omvault -q add github --password-from file:pw --field token=cmd:'printf secret'; "
        let ran = try await bash(vault + "omvault get github --field token --password-from file:pw")
        #expect(ran.output == "secret" && ran.status == 0, "\(ran.errors)")
        #expect(try await bash(vault + "omvault get github:token --field token --password-from file:pw").status == 2)
        #expect(try await bash(vault + "omvault get github --field tok --password-from file:pw").status == 10)
    }

    @Test("a name that no algorithm has is repeated, with the nearest one")
    func algorithms() async throws {
        for (line, name, near) in [
            ("hash --alg sha25", "sha25", "sha256"), ("hmac --alg sha522 --key-from env:K", "sha522", "sha512"),
            ("encrypt --alg aes-256-gmc", "aes-256-gmc", "aes-256-gcm"),
            ("kdf --alg hkdf --hash sha265 --length 8 --value-from env:K --salt-from env:K", "sha265", "sha256"),
        ] {
            let errors = try await refused("K=k omvault crypto \(line) < /dev/null")
            #expect(errors.contains("\"\(name)\"") && errors.contains(near), "\(errors)")
        }
        #expect(try await refused("omvault crypto hash --alg zzzzzz").contains("omvault crypto algs lists them"))
    }

    @Test("a hash of crypt(3) is told from a scheme that could be allowed", arguments: ["", " --schemes all", " --encoding phc"])
    func crypt(options: String) async throws {
        let errors = try await refused(
            #"printf '$6$abc$0123' > stored; omvault crypto check --hash-from file:stored --value-from env:V\#(options)"#, 4)
        #expect(errors.contains("sha512crypt") && errors.contains("openssl passwd -6"), "\(errors)")
    }

    @Test("crypto algs tells the schemes that check takes by itself from those that --schemes has to list")
    func schemeStatus() async throws {
        let rows = try await bash("omvault crypto algs").output.split(separator: "\n").filter { $0.hasPrefix("scheme\t") }
        let states = Set(rows.map { $0.split(separator: "\t")[2] })
        #expect(rows.count > 20 && states == ["ok", "listed"])
    }
}
