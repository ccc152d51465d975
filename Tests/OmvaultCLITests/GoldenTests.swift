// The golden vaults: files that an earlier omvault wrote, opened by this one. Made by Tests/Golden/make.

import Foundation
import TestSupport
import Testing

private let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

/// The golden vaults of a format.
enum GoldenFormat: String, CaseIterable {
    case v1, v2

    var folder: URL { repository.appending(path: "vectors/vault/\(rawValue)") }

    /// The digest is here too, so that a test fails if the archive and its page are changed together.
    var digest: String {
        switch self {
        case .v1: "24fe21325c25a4d2164ec1b22b979a393e1cef76dd3b3319b9b6fbfe2ec44e65"
        case .v2: "39df2db18fa8ea3571fc67060facebefb8ee33fa9bb772db868d0a8f65f0b923"
        }
    }
}

@Suite("The golden vaults") struct GoldenTests {
    /// A home as it was, and `holds NAME OPTION…`, which compares all that a vault holds with what was written down.
    private static let start = """
        set -e
        tar --no-same-owner -xf "$GOLDEN/golden.tar"
        holds() {
            local expected=expected/$1; shift
            "$TOOLS/contents.py" "$@" > found
            diff "$expected" found > differences || { echo "not as written down: $*"; head -n 20 differences; }
        }
        # Opens and checks each record, and reads one value. `holds` starts a program for each version and compares them all: with
        # a key file, none of them stretches.
        opens() {
            omvault -q verify --deep "$@"
            test "$(omvault get when-unlocked:v "$@")" = "value of when-unlocked" || echo "another value: $*"
        }

        """

    private func golden(_ format: GoldenFormat, _ script: String) async throws -> Ran {
        try await bash(
            Self.start + script,
            environment: ["GOLDEN": format.folder.path, "TOOLS": repository.appending(path: "Tests/Golden").path])
    }

    @Test("the archive of the golden vaults has the digest that is written down", arguments: GoldenFormat.allCases)
    func untouched(format: GoldenFormat) async throws {
        let ran = try await golden(format, "sha256sum \"$GOLDEN/golden.tar\" | cut -d ' ' -f 1")
        let page = try String(contentsOf: format.folder.appending(path: "README.md"), encoding: .utf8)
        let digest = ran.output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(digest == format.digest, "\(ran)")
        #expect(digest.count == 64 && page.contains("\(digest)  golden.tar"), "\(ran)")
    }

    @Test("each kind of slot opens the golden vault, with every item, level, version and value", arguments: GoldenFormat.allCases)
    func slots(format: GoldenFormat) async throws {
        let ran = try await golden(
            format,
            """
            holds own --key-file-from file:secrets/key
            opens --password-from file:secrets/password
            opens --recovery-from file:secrets/recovery
            opens --keyslot 4 --password-from file:secrets/login
            """)
        #expect(ran.status == 0 && ran.output == "", "\(ran)")
    }

    @Test(
        "without the device key the recovery code and the key file give all that is portable, and the password nothing",
        arguments: GoldenFormat.allCases)
    func elsewhere(format: GoldenFormat) async throws {
        let ran = try await golden(
            format,
            """
            rm -r .local/state/omvault-device
            holds elsewhere --key-file-from file:secrets/key
            opens --recovery-from file:secrets/recovery
            refused 30 omvault ls --password-from file:secrets/password
            """)
        #expect(ran.status == 0 && ran.output == "", "\(ran)")
    }

    @Test(
        "items of the level always are read without a password, and the log is whole and unchanged",
        arguments: GoldenFormat.allCases)
    func withoutPassword(format: GoldenFormat) async throws {
        let ran = try await golden(
            format,
            """
            omvault get always:v --no-input; echo
            omvault get 'always here:v' --no-input; echo
            refused 8 omvault get when-unlocked:v --no-input
            omvault -q log verify
            "$TOOLS/log.py" > found
            diff expected/log found
            """)
        #expect(ran.status == 0 && ran.output == "value of always\nvalue of always here\n", "\(ran)")
    }

    @Test(
        "the backups verify; restored on their device they hold the whole vault, and elsewhere its portable items",
        arguments: GoldenFormat.allCases)
    func backups(format: GoldenFormat) async throws {
        let ran = try await golden(
            format,
            """
            omvault backup verify whole.omvb | grep -c '^kind	whole$'
            omvault backup verify portable.omvb | grep -c '^kind	portable$'
            mv .local/share/omvault/personal.omv aside
            omvault -q backup restore whole.omvb --replace-living --key-file-from file:secrets/key
            holds own --key-file-from file:secrets/key
            printf new > new
            for kind in whole portable; do
                rm -r .local; mkdir .local
                omvault -q backup restore $kind.omvb --recovery-from file:secrets/recovery --new-password-from file:new
                holds elsewhere --key-file-from file:secrets/key
                opens --password-from file:new --keyslot 5
            done
            """)
        #expect(ran.status == 0 && ran.output == "1\n1\n", "\(ran)")
    }

    @Test(
        "a vault whose keys were replaced opens with its new recovery code, and not with the old one",
        arguments: GoldenFormat.allCases)
    func rekeyed(format: GoldenFormat) async throws {
        let ran = try await golden(
            format,
            """
            holds rekeyed --vault rekeyed --password-from file:secrets/password
            omvault -q verify --deep --vault rekeyed --recovery-from file:secrets/recovery.rekeyed
            refused 20 omvault ls --vault rekeyed --recovery-from file:secrets/recovery.before
            """)
        #expect(ran.status == 0 && ran.output == "", "\(ran)")
    }

    @Test("the login is granted, and a wrong password is added to the earlier count", arguments: GoldenFormat.allCases)
    func login(format: GoldenFormat) async throws {
        let ran = try await golden(
            format,
            """
            check() { omvault login check ada --mode offline --password-from file:$1 || echo "exit $?"; }
            check secrets/login | cut -d ' ' -f 1-4
            check secrets/password
            omvault login status --json
            """)
        let lines = ran.output.split(separator: "\n").map(String.init)
        try #require(lines.count == 4, "\(ran)")
        #expect(lines[0] == "granted offline user=ada profile=golden")
        #expect(lines[1] == "denied attempts_left=4" && lines[2] == "exit 20")
        let login = try Ran.login(lines[3])
        #expect(login["charged"] as? Int == 1 && login["failed"] as? Int == 1 && login["scheme"] as? String == "SaltedSHA-512")
    }

    @Test("a golden vault can be changed, rekeyed and verified", arguments: GoldenFormat.allCases)
    func written(format: GoldenFormat) async throws {
        let ran = try await golden(
            format,
            """
            printf more > more
            omvault -q add more --field v=file:more --key-file-from file:secrets/key
            omvault -q set versions:v --value-from file:more --password-from file:secrets/password
            omvault get more:v --key-file-from file:secrets/key; echo
            omvault get versions:v --key-file-from file:secrets/key; echo
            omvault -q key rekey --yes --key-file-from file:secrets/key > /dev/null
            omvault -q verify --deep --key-file-from file:secrets/key
            omvault -q log verify
            """)
        #expect(ran.status == 0 && ran.output == "more\nmore\n", "\(ran)")
    }
}
