// What happens to logins and their sessions when the profile says something else.

import Testing

extension SessionCommandTests {
    @Test("a session answers under no other profile than its own: it ends, at its server too, and the user is asked")
    func changedProfile() async throws {
        let lines = try await script(
            """
            serve nginx
            basic
            again() { refused 8 omvault login alice --no-input; grep -o 'before the profile was changed; it was ended' .refused; told user; }
            out=0
            for change in SessionTimeOutValue=60 "LogoutURL=https://localhost:$port/logout-401" RequiredTokens=SID \\
                ApplicationName=other "LoginURL=https://localhost:$port/login?as=open" "LoginURL=https://localhost:$port/tenant"; do
                basic
                login > said
                omvault -q login alice --no-input > said
                omvault -q profile set work "$change"
                omvault login status --json | grep -o '"outdated":true'
                again
                # The server that the session was made at, as it was told then.
                out=$((out + 1)); eventually ended $out
                omvault -q profile set work --unset RequiredTokens --unset ApplicationName --unset SessionTimeOutValue
            done
            basic
            login
            # What means the same is the same.
            omvault -q profile set work SessionTimeOutValue=0 ApplicationName=work
            omvault login alice --no-input
            omvault login status --json | grep -o '"outdated":[a-z]*'
            omvault -q profile set work IdleTimeOutValue=60
            refused 10 omvault login refresh alice
            told user
            """)
        #expect(
            lines == Array(
                repeating: [#""outdated":true"#, "before the profile was changed; it was ended", "none"], count: 6
            ).flatMap(\.self) + [
                "granted online user=alice profile=work", "granted session user=alice profile=work", #""outdated":false"#,
                "none",
            ])
    }

    @Test("a session that outlived its agent and its profile is ended by the next login; two of one name by one logout")
    func changedProfileTicket() async throws {
        let lines = try await script(
            """
            export XDG_RUNTIME_DIR=$(mktemp -d /dev/shm/omvault-XXXXXX)
            at_end='omvault -q agent stop; rm -rf "$XDG_RUNTIME_DIR"'
            serve nginx
            basic SessionActiveOnRestart=true
            login
            kill -9 "$(omvault agent status --json | grep -o '"process":[0-9]*' | cut -d: -f2)"
            no_agent() { ! omvault agent status > said 2>&1; }
            eventually no_agent
            omvault -q profile set work "LoginURL=https://localhost:$port/tenant"
            login 2> words; grep -o 'it was ended' words
            omvault login status --json | grep -o '"outdated":[a-z]*'
            eventually ended 1
            ls "$XDG_RUNTIME_DIR/omvault" | grep -c omvault-session-
            omvault -q logout alice
            ls "$XDG_RUNTIME_DIR/omvault" | grep -c omvault-session- || true
            """)
        #expect(
            lines == [
                "granted online user=alice profile=work", "granted online user=alice profile=work", "it was ended",
                #""outdated":false"#, "1", "0",
            ])
    }

    @Test("who changes the password, or replaces the credential, ends the session of whoever knew the old one")
    func changedPassword() async throws {
        let lines = try await script(
            """
            omvault -q profile set bare OfflineAuthAllowed=true MaxLoginAttempts=3
            printf other > other
            local="alice --profile bare --kdf-mem 8 --kdf-time 1"
            omvault -q login enroll $local --password-from file:right
            login --profile bare; told user
            refused 20 omvault login passwd $local --password-from file:wrong --new-password-from file:other; told user
            omvault -q login passwd $local --password-from file:right --new-password-from file:other
            told user
            omvault -q login $local --password-from file:other > said; told user
            omvault -q login enroll $local --old-password-from file:other --password-from file:right; told user
            """)
        #expect(
            lines == [
                "granted offline user=alice profile=bare", #""user":"alice""#, #""user":"alice""#, "none", #""user":"alice""#,
                "none",
            ])
    }

    @Test("31: a credential answers at the address and for the application that it was made at, and for no other")
    func changedAddress() async throws {
        let lines = try await script(
            """
            serve nginx
            basic
            login --remember auto
            for change in "LoginURL=https://localhost:$port/tenant" ApplicationName=other; do
                omvault -q profile set work "$change"
                refused 24 check right --mode offline
                omvault login status alice --profile work --json | grep -o '"reason":"[a-z_]*"\\|"remembered":[^]]*]'
                refused 8 omvault login --no-input
                check right; check right --mode offline
                basic; omvault -q profile set work --unset ApplicationName
                check right --mode offline
            done
            omvault login status --json | grep -o '"reason":[^,]*' | sort
            """)
        let moved = [
            #""reason":"no_credential""#, #""remembered":[]"#, "granted online user=alice profile=work",
            "granted offline user=alice profile=work", "granted offline user=alice profile=work",
        ]
        #expect(
            lines == ["granted online user=alice profile=work"] + moved + moved
                + [#""reason":"no_credential""#, #""reason":"no_credential""#, #""reason":null"#], "\(lines)")
    }

    @Test("a logout with everything reaches what was left at the old server, and under the name of a profile that is gone")
    func clearAfterMove() async throws {
        let lines = try await script(
            """
            serve nginx
            basic
            login --remember auto
            password() { omvault login status --json | grep -o '"password":[a-z]*' || echo none; }
            # No session tells where that was.
            omvault -q agent stop
            omvault -q profile set work "LoginURL=https://localhost:$port/tenant"
            omvault -q logout alice
            basic
            password
            login --remember auto
            omvault -q profile set work "LoginURL=https://localhost:$port/tenant"
            omvault logout alice --clear
            basic
            password; refused 24 check right --mode offline
            login --remember auto
            omvault -q logout alice
            omvault -q login alice --kdf-mem 8 --kdf-time 1 --password-from file:right --remember auto > said
            omvault -q agent stop
            omvault -q profile rm work --yes
            refused 9 omvault logout bob --clear --profile work
            refused 9 omvault logout alice --clear --profile other
            omvault logout alice --clear --profile work
            basic
            password; refused 24 check right --mode offline
            """)
        #expect(
            lines == [
                "granted online user=alice profile=work", #""password":false"#, "granted online user=alice profile=work", "none",
                "granted online user=alice profile=work", "none",
            ], "\(lines)")
    }
}
