// The speed of omvault, compared with other programs for the same tasks. It is not part of the tests, because a busy machine
// would fail them. Each row runs ours and the peer in turn, A B A B, in one run, so both see the same machine.
//
//     swift build -c release --static-swift-stdlib --disable-local-rpath -Xlinker -s -debug-info-format none
//     .build/release/omvault-bench --omvault .build/release/omvault

internal import Glibc

@main
struct Bench {
    static func main() {
        do throws(BenchError) {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            let folder = try TemporaryFolder()
            defer {
                VaultRows.end()
                TokenRows.end()
                folder.remove()
            }
            try run(options, folder)
        } catch {
            let text = "omvault-bench: \(error.text)\n"
            write(2, text, text.utf8.count)
            exit(2)
        }
    }

    /// The rows, one file for each kind.
    private static func rows(_ options: Options, _ folder: TemporaryFolder) -> [Row] {
        StartRows.all(options, folder) + VaultRows.all(options, folder) + TokenRows.all(options, folder)
            + StretchRows.all(options, folder)
            + BlockRows.all(options)
            + CallRows.all() + SignatureRows.all(options) + FileRows.all(options, folder) + SaltedRows.all(options)
    }

    private static func run(_ options: Options, _ folder: TemporaryFolder) throws(BenchError) {
        let rows = rows(options, folder).filter { options.only.isEmpty || $0.name.contains(options.only) }
        print("| row | ours | best | median | peer | best | median | ratio of bests | of medians | asked | |")
        print("|---|---|---|---|---|---|---|---|---|---|---|")
        var missed = 0
        for row in rows {
            do throws(BenchError) {
                let result = try row.run(rounds: options.rounds)
                print(result.line)
                fflush(nil)
                missed += result.isMet ? 0 : 1
            } catch {
                print("| \(row.name) | left out: \(error.text) |")
            }
        }
        print("\n\(rows.count) rows, \(missed) not as asked; \(options.rounds) rounds each")
    }
}

/// The paths of the programs, and how long to measure.
struct Options {
    var omvault: String?
    var openssl = "/usr/bin/openssl"
    var age = "/usr/bin/age"
    var argon2 = "/usr/bin/argon2"
    var python = "/usr/bin/python3"
    var pass = "/usr/bin/pass"
    var gpg = "/usr/bin/gpg"
    var keepassxc = "/usr/bin/keepassxc-cli"
    var curl = "/usr/bin/curl"
    var oidcToken = "/usr/bin/oidc-token"
    /// The program that starts the servers of the tests.
    var serve = "Tests/Servers/serve"
    var rounds = 9
    var fileMiB = 512
    /// Vaults with more items are left out.
    var mostItems = 100_000
    var only = ""

    static let help = """
        usage: omvault-bench --omvault PATH [--openssl PATH] [--age PATH] [--argon2 PATH] [--python PATH]
                             [--pass PATH] [--gpg PATH] [--keepassxc PATH] [--curl PATH] [--oidc-token PATH] [--serve PATH]
                             [--rounds N] [--file-mib N] [--most-items N] [--only TEXT]
        """

    init(_ arguments: [String]) throws(BenchError) {
        var rest = arguments[...]
        while let name = rest.popFirst() {
            guard let value = rest.popFirst() else { throw BenchError(Self.help) }
            switch name {
            case "--omvault": omvault = value
            case "--openssl": openssl = value
            case "--age": age = value
            case "--argon2": argon2 = value
            case "--python": python = value
            case "--pass": pass = value
            case "--gpg": gpg = value
            case "--keepassxc": keepassxc = value
            case "--curl": curl = value
            case "--oidc-token": oidcToken = value
            case "--serve": serve = value
            case "--only": only = value
            case "--rounds": rounds = try Self.number(value)
            case "--file-mib": fileMiB = try Self.number(value)
            case "--most-items": mostItems = try Self.number(value, upTo: 100_000)
            default: throw BenchError(Self.help)
            }
        }
    }

    private static func number(_ text: String, upTo most: Int = 4096) throws(BenchError) -> Int {
        guard let number = Int(text), (1...most).contains(number) else { throw BenchError(Self.help) }
        return number
    }
}

struct BenchError: Error {
    let text: String
    let isOfMissingProgram: Bool

    init(_ text: String) { (self.text, isOfMissingProgram) = (text, false) }

    init(notInstalled path: String) { (text, isOfMissingProgram) = ("\(path) is not installed", true) }
}
