// Profiles from the shell: what is kept, what is said, and what a hostile URL comes to.

import Foundation
import TestSupport
import Testing

@Suite struct ProfileCommandTests {
    private static let example = """
        set -eu
        url='wp://settings?AuthServerType::=OAMMSAuthentication&OAMMSURL::=http://host123.us.example.com:14100'
        url="$url&OAMMSServiceDomain::=MobileServiceDomain&ApplicationName::=WhitePages"
        basic='x://?AuthServerType::=HTTPBasicAuthentication&LoginURL::=https://id.example.org/in'
        basic="$basic&LogoutURL::=https://id.example.org/out"
        profiles=.config/omvault/profiles

        """

    @Test("a file that is refused is closed once: a second close would take away what another thread has opened meanwhile")
    func closedOnce() async throws {
        let ran = try await bash(
            """
            omvault -q profile set work OfflineAuthAllowed=true
            chmod 640 .config/omvault/profiles/work.json
            strace -f -qq -o trace -e trace=close omvault profile show work 2> /dev/null; echo "$?"
            grep -c 'close(.*= 0' trace > /dev/null && ! grep EBADF trace
            """)
        #expect(ran.status == 0 && ran.output == "14\n", "\(ran)")
    }

    @Test("the SDK's example is imported under its default name, shown, and independent of a named one")
    func example() async throws {
        let ran = try await bash(
            Self.example + """
                omvault profile import "$url" --yes 2> said
                grep -q 'OAMMSURL is http to another machine: it is saved, but logins that need it are refused.*set it to https' said
                grep -q 'OAMMSAuthentication: saved, but this version cannot log in there online' said
                printf '%s\\n' "$basic" | omvault -q profile import - --name basic --yes
                printf '%s' "$basic&MaxLoginAttempts::=3" > url
                omvault -q profile import -i url --name second --yes
                omvault profile ls
                omvault profile show OracleIDMMobileSDKConfigurationKey 2> said | grep -E 'OAMMS|Application|AuthServer'
                omvault profile show second | grep -E 'LoginURL|MaxLogin|OnAttempts'
                omvault profile show basic | grep MaxLogin
                stat -c %a $profiles/second.json
                omvault -q profile rm basic --yes
                omvault profile ls
                refused 9 omvault profile rm basic --yes
                """)
        #expect(ran.errors == "")
        #expect(ran.status == 0)
        #expect(
            ran.output == """
                OracleIDMMobileSDKConfigurationKey
                basic
                second
                AuthServerType\tOAMMSAuthentication\tset\tacts
                ApplicationName\tWhitePages\tset\tacts
                OAMMSURL\thttp://host123.us.example.com:14100\tset\tkept, for later
                OAMMSServiceDomain\tMobileServiceDomain\tset\tkept, for later
                LoginURL\thttps://id.example.org/in\tset\tacts
                MaxLoginAttempts\t3\tset\tacts
                OnAttemptsExceeded\twipe\tdefault\tacts
                MaxLoginAttempts\t1\tdefault\tacts
                600
                OracleIDMMobileSDKConfigurationKey
                second

                """)
    }

    @Test("a hostile URL is refused key by key, nothing is kept of it, and no secret in it is repeated")
    func hostile() async throws {
        let ran = try await bash(
            Self.example + """
                for part in CryptoScheme::=PlainText OfflineOnUntrustedServer::=TRUE \\
                    MaxLoginAttempts::=1000 RememberCredentialsAllowed::=TRUE OnAttemptsExceeded::=lockout \\
                    OfflineCredentialMaxAge::=0 OAuthClientSecret::=file:/etc/shadow \\
                    SessionActiveOnRestart::=TRUE SendAuthorizationHeaderInLogout::=TRUE \\
                    KeychainDataProtection::=KeychainDataAccessibleAlways TrustedCA::=/tmp/x.pem; do
                    refused 13 omvault profile import "$basic&$part" --yes
                    grep -q -- "--allow ${part%%:*}" .refused
                    refused 13 omvault profile import "$basic&$part" --yes --allow LoginURL
                    omvault -q profile import "$basic&$part" --yes --allow "${part%%:*}" --name allowed
                done
                refused 9 omvault profile import "$basic&OAuthClientSecret::=canary-secret" --yes --allow OAuthClientSecret
                if grep -r canary .refused .config; then exit 98; fi
                refused 9 omvault profile set p OAuthClientSecret=canary-secret
                refused 2 omvault profile set p canary-secret
                refused 9 omvault profile set p LoginURL=https://canary:secret@host/
                if grep -r canary .refused .config; then exit 98; fi
                refused 2 omvault profile import 'x://?a=b' --yes
                refused 2 omvault profile import 'x://settings' --yes
                refused 9 omvault profile import "$basic&Foo::=1" --yes
                refused 9 omvault profile import "$basic&LoginURL::=https://evil.example/" --yes
                refused 2 omvault profile import "$basic" --yes --allow Foo
                refused 2 omvault profile import --yes
                refused 2 omvault profile import "$basic" -i url --yes
                refused 8 omvault profile import "$basic"
                omvault profile ls
                omvault -q profile import "$basic&Foo::=1&MaxLoginAttempts::=2" --yes --name left --only AuthServerType \\
                    --only LoginURL --only LogoutURL
                omvault profile show left | grep MaxLogin
                omvault -q profile import 'x://?AuthServerType=HTTPBasicAuthentication&LoginURL=https%3A%2F%2Fa%2F&LogoutURL=https://a' \\
                    --components --yes --name components
                omvault profile show components --json
                """)
        #expect(ran.errors == "")
        #expect(ran.status == 0)
        let lines = ran.output.split(separator: "\n").map(String.init)
        #expect(lines.prefix(2) == ["allowed", "MaxLoginAttempts\t1\tdefault\tacts"])
        let shown = try Ran.json(lines.last ?? "")
        #expect(shown["server"] as? String == "https://a:443")
        #expect((shown["values"] as? [String: Any])?["LoginURL"] as? String == "https://a/")
        #expect((shown["from"] as? [String: Any])?["LoginURL"] as? String == "set")
    }

    @Test("an import says where the passwords would go, and a no keeps the profile that is there")
    func asked() async throws {
        let ran = try await atTerminal(
            Self.example + """
                omvault -q profile set p MaxLoginAttempts=4
                omvault -q profile import "$basic" --name p || echo "exit $?"
                omvault profile show p --format plain | grep -c -e LoginURL -e 'MaxLoginAttempts.4.set'
                omvault -q profile import "$basic" --name p
                omvault profile show p --format plain | grep -c -e LoginURL -e 'MaxLoginAttempts.1.default'
                """,
            [
                ("passwords to https://id.example.org:443? They replace all settings of the existing profile. [y/N]", "n\n"),
                ("[y/N]", "y\n"),
            ])
        #expect(ran.status == 0)
        let lines = ran.output.split(whereSeparator: \.isNewline)
        #expect(lines.contains("exit 3") && lines.contains("1") && lines.contains("2"))
    }

    @Test("an error names the key, what it takes and the SDK's number")
    func words() async throws {
        let ran = try await bash(
            Self.example + """
                omvault profile set p IdleTimeOutValue=3 --json 2> error || echo "exit $?"; cat error
                omvault profile set p LoginURL=https://a 2> error || echo "exit $?"; cat error
                omvault profile set p AuthServerTyp=x 2> error || echo "exit $?"; cat error
                """)
        #expect(
            ran.output == """
                exit 9
                {"error":{"code":"config","exit":9,"message":"IdleTimeOutValue is not 0 (none) or a whole number from 10 to \
                3155760000","sdk_code":10104,"sdk_domain":"ORAIDMMOBILE"}}
                exit 9
                omvault: error: AuthServerType is missing
                omvault: hint: a profile with a server needs the kind of server: OAMMSAuthentication, HTTPBasicAuthentication, \
                FederatedAuthentication, CertificateBasedAuthentication, OAuthAuthentication, OpenIDConnect10, LocalAuthenticator
                omvault: sdk: ORAIDMMOBILE-10115
                exit 9
                omvault: error: AuthServerTyp is not a key of a profile
                omvault: hint: did you mean AuthServerType? All keys are in docs/reference/profiles.md

                """)
    }

    @Test(
        "the administrator's policy bounds a profile and every login under it, and one that others can write stops them",
        .enabled(if: geteuid() == 0, "needs a mount namespace of its own"))
    func ceiling() async throws {
        let ran = try await bash(
            Self.example + """
                omvault -q profile set p OfflineAuthAllowed=true MaxLoginAttempts=9
                printf right > pw
                cat > inside <<'EOF'
                set -eu
                mount -t tmpfs none /etc
                mkdir /etc/omvault
                printf '{"MaxLoginAttempts": 4}' > /etc/omvault/policy.json
                omvault profile show p 2>&1 | grep -E 'MaxLogin'
                omvault login enroll ada --profile p --password-from file:pw --kdf-mem 8 --kdf-time 1 2>&1
                printf '{"OfflineAuthAllowed": false}' > /etc/omvault/policy.json
                omvault login check ada --profile p --password-from file:pw 2>&1 || echo "exit $?"
                printf '{"OfflineAuthAllowed": fals}' > /etc/omvault/policy.json
                omvault login check ada --profile p --password-from file:pw 2>/dev/null || echo "exit $?"
                printf '{}' > /etc/omvault/policy.json
                chmod 666 /etc/omvault/policy.json
                omvault login check ada --profile p --password-from file:pw 2>/dev/null || echo "exit $?"
                chmod 644 /etc/omvault/policy.json
                omvault login check ada --profile p --password-from file:pw | cut -d= -f1
                EOF
                unshare -m bash inside
                """)
        #expect(ran.errors == "")
        #expect(
            ran.output == """
                MaxLoginAttempts\t4\tceiling\tacts
                omvault: MaxLoginAttempts is limited by /etc/omvault/policy.json
                omvault: enrolled ada under profile "p": after 4 wrong passwords in a row, the next wrong one locks the login
                denied reason=offline_not_allowed
                omvault: error: the administrator of this machine does not allow offline logins
                exit 13
                exit 9
                exit 14
                granted offline user

                """)
    }
}
