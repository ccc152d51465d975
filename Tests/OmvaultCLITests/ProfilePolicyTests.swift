// What is in force under a profile: its server's word and the administrator's bound, the default profile, what may be
// remembered, and which hints help.

import Foundation
import TestSupport
import Testing

@Suite("What is in force under a profile") struct ProfilePolicyTests {
    private static let start = """
        said() { grep -v '^omvault: sdk: ' "$1" | sed 's/^omvault: //'; }

        """

    private func script(_ text: String, _ location: SourceLocation = #_sourceLocation) async throws -> [String] {
        try await Serving.lines(Self.start + text, location)
    }

    @Test("set-up, profile show and login status give the limit in force: the server's, and never more than this machine allows")
    func limit() async throws {
        let lines = try await script(
            """
            serve web nginx
            here="https://localhost:$port"
            say() { printf '%s' "$1" > web/www/profile.json; }
            set_up() { omvault profile set work "ProfileURL=$here/profile" "$@" 2>&1; }
            shown() { omvault profile show work | grep -e OfflineAuth -e MaxLogin -e Location; }
            status() { omvault login status alice --profile work --json | grep -o '"limit":[0-9]*\\|"location_[a-z_]*":[a-z0-9]*'; }
            basic "$here/login" "TrustedCA=$ca" ApplicationName=WhitePages
            say '{"epoch":8,"MaxLoginAttempts":50,"LocationUpdateEnabled":250}'
            set_up; set_up --json | grep -o '"limit":.*'
            check right; shown; status
            say '{"epoch":9,"MaxLoginAttempts":3}'
            check right; shown | grep MaxLogin; status | head -1
            # More than the key takes: nothing of it is used.
            for many in 1001 '"1001"' 99999; do
                say '{"epoch":10,"MaxLoginAttempts":'"$many"',"OfflineAuthAllowed":false}'
                refused 52 set_up; grep -c 'cannot be read, so it is not used' .refused
            done
            check right; status | head -1
            say '{"epoch":11,"OfflineAuthAllowed":false}'
            set_up | tail -1; shown | grep OfflineAuth
            omvault profile show work --json | grep -o '"policy_epoch":11'
            # Without ProfileURL nobody is asked, and the profile decides of the logins to come.
            omvault profile set work --unset ProfileURL 2>&1; shown | grep MaxLogin
            """)
        #expect(
            lines == [
                "omvault: the server's policy has epoch 8: MaxLoginAttempts = 10 (the server says 50; this machine allows no more), "
                    + "LocationUpdateEnabled = true, LocationUpdateDistanceFilter = 250",
                #"omvault: profile "work": after 10 wrong passwords in a row, the next wrong one wipes the cached credential (the most that this machine allows)"#,
                #""limit":10,"limit_mode":"exceeds","limit_from":"ceiling","policy_epoch":8}"#,
                "granted online user=alice profile=work", "OfflineAuthAllowed\ttrue\tset\tacts",
                "MaxLoginAttempts\t10\tceiling\tacts",
                "LocationUpdateEnabled\ttrue\tserver\tkept, no effect",
                "LocationUpdateDistanceFilter\t250\tserver\tkept, no effect", #""limit":10"#, #""location_update_enabled":true"#,
                #""location_update_distance_filter":250"#, "granted online user=alice profile=work",
                "MaxLoginAttempts\t3\tserver\tacts", #""limit":3"#, "1", "1", "1", "granted online user=alice profile=work",
                #""limit":3"#, #"omvault: profile "work": offline logins are not allowed (the server's policy)"#,
                "OfflineAuthAllowed\tfalse\tserver\tacts", #""policy_epoch":11"#,
                #"omvault: profile "work": after 2 wrong passwords in a row, the next wrong one wipes the cached credential"#,
                "MaxLoginAttempts\t2\tset\tacts",
            ])
    }

    @Test(
        "profile set says what has no effect, and names no limit where offline logins are not allowed; show --json has each default"
    )
    func shown() async throws {
        let lines = try await script(
            """
            omvault profile set p MaxLoginAttempts=3 PresentClientCertificate=TRUE 2>&1
            omvault profile set p OfflineAuthAllowed=true 2>&1 | tail -1
            refused 9 omvault profile set p LocationUpdateDistanceFilter=0 --json
            grep -o '"sdk_code".*' .refused
            omvault profile show p --json > shown
            grep -o '"LocationUpdate[A-Za-z]*":[a-z0-9][a-z0-9]*' shown
            omvault profile show p | grep -c Location || true
            omvault profile set o AuthServerType=OAuthAuthentication OAuthAuthZGrantType=OAuthResourceOwner OAuthClientID=app \\
                OAuthTokenEndpoint=https://id.example.org/token AutoLoginAllowed=true AutoLoginDefault=false \\
                RememberCredentialsAllowed=true RememberUsernameAllowed=true 2>&1
            omvault profile show o 2> /dev/null | grep -e Allowed
            for choice in auto credentials; do
                refused 13 omvault login ada --profile o --remember $choice --password-from file:right
                said .refused
            done
            """)
        #expect(
            lines == [
                "omvault: PresentClientCertificate: saved, but this version sends no client certificate",
                #"omvault: profile "p": offline logins are not allowed"#,
                #"omvault: profile "p": after 3 wrong passwords in a row, the next wrong one locks the login"#,
                #""sdk_code":10403,"sdk_domain":"ORAIDMMOBILE"}}"#, #""LocationUpdateEnabled":false"#,
                #""LocationUpdateDistanceFilter":1000"#, "0",
                "omvault: AutoLoginAllowed, RememberCredentialsAllowed: saved, but without effect; with OAuth only the user name is remembered",
                #"omvault: profile "o": offline logins are not allowed"#, "OfflineAuthAllowed\tfalse\tdefault\tacts",
                "AutoLoginAllowed\ttrue\tset\tkept, no effect", "RememberCredentialsAllowed\ttrue\tset\tkept, no effect",
                "RememberUsernameAllowed\ttrue\tset\tacts",
                "error: with OAuth only the user name is remembered, so --remember auto is not allowed",
                "hint: --remember user",
                "error: with OAuth only the user name is remembered, so --remember credentials is not allowed",
                "hint: --remember user",
            ])
    }

    @Test("a URL that is laxer than the profile that it would replace needs --allow for each key, and changes nothing without")
    func laxer() async throws {
        let lines = try await script(
            """
            url='x://?AuthServerType::=HTTPBasicAuthentication&LoginURL::=https://id.example.org/in'
            url="$url&LogoutURL::=https://id.example.org/out&OfflineAuthAllowed::=true"
            omvault -q profile import "$url&LimitMode::=strict&AttemptDelay::=60&MaxLoginAttempts::=3" --name work --yes
            refused 13 omvault profile import "$url&MaxLoginAttempts::=10" --name work --yes
            said .refused
            refused 13 omvault profile import "$url&MaxLoginAttempts::=3" --name work --yes --allow AttemptDelay
            grep -o -e '--allow.*' .refused
            omvault profile show work | grep -e LimitMode -e AttemptDelay
            omvault -q profile import "$url&MaxLoginAttempts::=3" --name work --yes --allow AttemptDelay --allow LimitMode
            omvault -q profile import "$url&MaxLoginAttempts::=10" --name other --yes
            """)
        let laxer = "is less strict than in the profile that it replaces"
        #expect(
            lines == [
                "error: the URL needs your consent for this: MaxLoginAttempts \(laxer); LimitMode \(laxer); AttemptDelay \(laxer)",
                "hint: if you trust it: --allow MaxLoginAttempts --allow LimitMode --allow AttemptDelay",
                "--allow LimitMode", "LimitMode\tstrict\tset\tacts", "AttemptDelay\t60\tset\tacts",
            ])
    }

    @Test("without --profile the only profile is meant, among several the one of a configuration URL without a name")
    func standard() async throws {
        let lines = try await script(
            """
            url='x://?OfflineAuthAllowed::=true&MaxLoginAttempts'
            omvault -q profile import "$url::=2" --name one --yes
            omvault profile show | grep MaxLogin
            omvault -q profile import "$url::=3" --name two --yes
            refused 2 omvault profile show
            omvault -q profile import "$url::=4" --yes
            omvault profile show | grep MaxLogin
            omvault -q login enroll ada --kdf-mem 8 --kdf-time 1 --password-from file:right
            omvault login check ada --password-from file:right | grep -o 'profile=[A-Za-z]*'
            omvault profile show one | grep MaxLogin
            """)
        #expect(
            lines == [
                "MaxLoginAttempts\t2\tset\tacts", "MaxLoginAttempts\t4\tset\tacts", "profile=OracleIDMMobileSDKConfigurationKey",
                "MaxLoginAttempts\t2\tset\tacts",
            ])
        let ran = try await atTerminal(
            "omvault -q profile import 'x://?MaxLoginAttempts::=2' || echo \"exit $?\"",
            [("Logins without --profile use it. [y/N]", "n\n")])
        #expect(ran.output.contains("exit 3"), "\(ran.output)")
    }

    @Test("a permission that is withdrawn acts at once: name and password go from the files, and set and status say so")
    func withdrawn() async throws {
        let lines = try await script(
            """
            umask 077
            omvault -q profile set p OfflineAuthAllowed=true AutoLoginAllowed=true RememberUsernameAllowed=true KeychainDataProtection=always
            omvault -q login enroll zelda77 --kdf-mem 8 --kdf-time 1 --password-from file:right
            login() { omvault -q login zelda77 --remember "$1" --password-from file:right > /dev/null; omvault -q agent stop || true; }
            remembered() { omvault login status --json | grep -o '"remembered":.*' | grep -o '"user":[a-z0-9"]*\\|"password":[a-z]*\\|"armed":[a-z]*' | xargs; }
            # 64 bytes out of the middle of the password's box: its own file has them in hexadecimal.
            rows() { python3 -c 'import sqlite3; print(*(row.hex() for (row,) in sqlite3.connect(".local/state/omvault/logins.db").execute("SELECT row FROM remembered")))'; }
            holding() { python3 -c '
            import os
            box = bytes.fromhex(open("box").read())
            files = (os.path.join(folder, name) for folder, _, names in os.walk(".") for name in names)
            print(sum(box in open(file, "rb").read() for file in files if os.path.isfile(file)))'; }
            login auto; remembered
            rows | grep -o '.\\{256\\}$' | cut -c 1-128 > box; holding
            omvault profile set p AutoLoginAllowed=false 2>&1
            holding; remembered
            login user
            omvault profile set p RememberUsernameAllowed=false 2>&1 | head -1
            rows | grep -c "$(printf zelda77 | xxd -p)" || true
            refused 8 omvault login --password-from file:right
            said .refused
            # By hand, in the file: the next look at it finds what is left over.
            omvault -q profile set p AutoLoginAllowed=true
            login auto
            rows | grep -o '.\\{256\\}$' | cut -c 1-128 > box; holding
            sed -i '/AutoLoginAllowed/s/true/false/' .config/omvault/profiles/p.json
            omvault login status --json 2>&1 > said | cat; grep -o '"remembered":.*' said | grep -o '"password":[a-z]*'
            holding
            omvault login status 2>&1 | grep -c 'any more' || true
            """)
        let said = #"omvault: profile "p" no longer allows the remembered data; it was deleted"#
        #expect(
            lines == [
                "user:zelda77 password:true armed:true", "1", said,
                #"omvault: profile "p": after 1 wrong password, the next wrong one locks the login"#, "0",
                "user:zelda77 password:false armed:false", said, "0", "error: no user given",
                "hint: omvault login USER", "1", said, #""password":false"#, "0", "0",
            ])
    }

    @Test(
        "a hint is given only where it helps: no way offline where nothing is cached, no enrolment under a profile with a server")
    func hints() async throws {
        let lines = try await script(
            """
            basic https://id.example.org/in
            refused 24 omvault login check alice --profile work --mode offline --password-from file:right; said .refused
            omvault -q profile set alone OfflineAuthAllowed=true MaxLoginAttempts=1 OnAttemptsExceeded=wipe
            refused 24 omvault login check alice --profile alone --password-from file:right; said .refused
            omvault -q profile set later AuthServerType=CertificateBasedAuthentication LoginURL=https://id.example.org/in \\
                LogoutURL=https://id.example.org/out ApplicationName=a OfflineAuthAllowed=true
            refused 4 omvault login check alice --profile later --password-from file:right; said .refused
            refused 4 omvault login alice --profile later --password-from file:right; said .refused
            refused 24 omvault login alice --profile later --mode offline --password-from file:right; said .refused
            refused 9 omvault login check alice --profile alone --mode online --password-from file:right; said .refused
            omvault -q login enroll alice --profile alone --kdf-mem 8 --kdf-time 1 --password-from file:right
            refused 9 omvault login check alice --profile alone --mode online --password-from file:right; said .refused
            for code in 20 23; do refused $code omvault login check alice --profile alone --password-from file:wrong; done; said .refused
            """)
        let nothing = "error: no credential is cached for this user and profile"
        let type = "error: this version cannot log in to a server of type CertificateBasedAuthentication"
        let noServer = "error: the profile has no server that can be asked"
        let words = lines.filter { !$0.hasPrefix("denied ") }
        #expect(
            words == [
                nothing, "hint: a login online caches one", nothing, "hint: omvault login enroll USER --profile NAME caches one",
                type,
                type, nothing, noServer, noServer, "hint: --mode offline uses the cached credential",
                "error: too many wrong passwords: the cached credential was wiped",
                "hint: omvault login enroll USER caches a new one",
            ])
    }
}
