// The SDK's store from the shell.

import TestSupport
import Testing

@Suite struct CredentialCommandTests {
    /// A vault that scripts unlock through a key file, so that no stretch is waited for.
    private static let vault = """
        set -eu
        printf 'vault password' > pw
        printf 'credential secret' > secret
        omvault -q init --password-from file:pw --no-recovery --kdf-mem 8 --kdf-time 1
        open='--vault-password-from file:pw'

        """

    @Test("what add stored is printed byte by byte, and update keeps what it does not name")
    func addUpdateGet() async throws {
        let ran = try await bash(
            Self.vault + """
                key=https://host.example.com:8443/a?b=1%2F2
                omvault -q credential add $key --username mona --password-from file:secret --tenant acme $open \\
                    --property role=file:pw
                omvault credential get $key --field password $open; echo
                printf 'another' > secret
                omvault -q credential update $key --password-from file:secret $open
                omvault credential get $key --field password $open; echo
                omvault credential get $key --field username $open; echo
                omvault credential get $key --field property.role $open; echo
                omvault credential ls $open
                omvault -q credential add $key --password-from file:secret $open
                omvault credential get $key $open
                """)
        #expect(ran.errors == "")
        #expect(ran.status == 0)
        #expect(
            ran.output == """
                credential secret
                another
                mona
                vault password
                credential\thttps://host.example.com:8443/a?b=1%2F2\twhen-unlocked
                key\thttps://host.example.com:8443/a?b=1%2F2
                password\t(concealed)

                """)
    }

    @Test("a property has a value, a label and a description, and a credential of the same key is another thing")
    func properties() async throws {
        let ran = try await bash(
            Self.vault + """
                omvault -q credential add --property-key k --value-from file:secret --label L --description D $open
                omvault -q credential add k --username u --password-from file:pw $open
                omvault credential get --property-key k --field label $open; echo
                omvault credential get --property-key k --field value $open; echo
                omvault -q credential rm --property-key k $open
                omvault credential ls $open
                omvault credential get --property-key k $open || echo "exit $?"
                """)
        #expect(
            ran.output == """
                L
                credential secret
                credential\tk\twhen-unlocked
                exit 10

                """)
        #expect(ran.errors.contains("no property \"k\" in vault \"default\"") || ran.errors.contains("no property \"k\""))
    }

    @Test("rm leaves nothing in list, trash or history, and a second rm finds nothing")
    func remove() async throws {
        let ran = try await bash(
            Self.vault + """
                omvault -q credential add k --username canary-user --password-from file:secret $open
                omvault -q credential rm k $open
                omvault credential ls $open
                omvault ls --trash --password-from file:pw
                omvault credential rm k $open || echo "exit $?"
                """)
        #expect(ran.output == "exit 10\n")
    }

    @Test("the vault's own source of a password is never taken for the credential's")
    func environment() async throws {
        let ran = try await bash(
            Self.vault + """
                export OMVAULT_PASSWORD_FROM=file:pw
                omvault --no-input credential add k --username u || echo "exit $?"
                omvault -q credential add k --username u --password-from file:secret
                omvault credential get k --field password; echo
                """)
        #expect(ran.output == "exit 8\ncredential secret\n")
    }

    @Test("a level is given once, kept by update, and an unknown one is refused")
    func levels() async throws {
        let ran = try await bash(
            Self.vault + """
                omvault -q credential add k --username u --password-from file:secret --level always --device-only $open
                omvault -q credential update k --username v $open
                omvault --no-input credential get k --field username; echo
                omvault credential add k --level KeychainDataAccessibleNever --password-from file:secret $open || echo "exit $?"
                omvault -q credential add k --username w --password-from file:secret --level when-unlocked $open
                omvault --no-input credential get k --field username || echo "exit $?"
                """)
        #expect(ran.output == "v\nexit 2\nexit 8\n")
    }

    @Test(
        "wrong arguments are said before anything is asked",
        arguments: [
            "add", "add ''", "add k --property-key p", "add k --value-from file:secret", "add --property-key p --username u",
            "get", "rm", "add k --property nosource", "add k --property a:b=file:secret",
        ])
    func usage(arguments: String) async throws {
        let ran = try await bash(Self.vault + "omvault --no-input credential \(arguments) $open < /dev/null || echo \"exit $?\"")
        #expect(ran.output == "exit 2\n")
        #expect(ran.errors != "")
    }
}
