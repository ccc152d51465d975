// Tokens and assertions of other servers, from the command to a server that verifies them: Tests/Servers/exchange.py.

import Foundation
import TestSupport
import Testing

@Suite("Tokens of other servers at the command line") struct ForeignTokenCommandTests {
    private static let start = #"""
        set -o pipefail
        agent_folder
        serve exchange
        cp "$tokens"/*.jwt "$tokens/secret" .
        foreign() {
            work AuthServerType=OAuthAuthentication "OAuthTokenEndpoint=http://127.0.0.1:$http/token" OAuthClientID=omvault \
                "OAuthRevocationEndpoint=http://127.0.0.1:$http/revoke" "OAuthClientSecret=file:$PWD/secret" \
                KeychainDataProtection=KeychainDataAccessibleAlways TokenRelease=allow "$@"
        }
        exchange() { omvault token exchange work --subject-type jwt --subject-from "file:$1.jwt" "${@:2}"; }
        # sub, aud, scope and act of an access token
        claims() {
            cut -d . -f 2 | python3 -c '
        import base64, json, sys
        text = sys.stdin.read().strip()
        c = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        print(c["sub"], c["aud"], ",".join(c["scope"]), (c["act"] or {}).get("sub"))'
        }
        asked() { grep -c '"/token"' "$seen" || true; }

        """#

    private func script(_ text: String, _ location: SourceLocation = #_sourceLocation) async throws -> [String] {
        try await Serving.lines(Self.start + text, location)
    }

    @Test(
        "a server that verifies tokens exchanges the right one, for a scope, an audience and an actor; the wrong ones are refused"
    )
    func exchanged() async throws {
        let lines = try await script(
            #"""
            foreign OAuthAuthZGrantType=OAuthTokenExchange
            exchange good --scope b,a --audience calendar | claims
            exchange good --actor-from file:robot.jwt --actor-type jwt | claims
            exchange good --format header | cut -c 1-25
            exchange good --json | grep -o '"scopes":.*'
            for name in expired audience foreign; do refused 51 exchange "$name"; done
            refused 51 exchange good --audience elsewhere
            refused 51 exchange good --subject-type id_token
            refused 2 exchange good --subject-type cookie
            refused 2 exchange good --actor-type jwt
            refused 2 exchange good --user ada
            refused 2 exchange good --store --format header
            cp secret key.jwt; echo '-----BEGIN PRIVATE KEY-----' > pem.jwt
            for name in key pem; do refused 2 exchange "$name"; done; grep -c 'subject-from is' .refused
            foreign OAuthAuthZGrantType=OAuthTokenExchange ConnectivityMode=Offline
            refused 24 exchange good; refused 24 omvault token get work --no-agent
            foreign OAuthAuthZGrantType=OAuthTokenExchange ConnectivityMode=Auto
            refused 4 omvault login --profile work
            foreign OAuthAuthZGrantType=OAuthTokenExchange "OAuthUserJWTAssertionValue=file:$PWD/good.jwt"
            omvault token exchange work | claims
            omvault token get work --no-agent --scope c | claims
            foreign OAuthAuthZGrantType=OAuthTokenExchange TokenExchangeDialect=mcs
            refused 4 exchange good
            # Nothing is kept: there is no agent, and no ledger.
            refused 61 omvault agent stop
            find "$HOME" -name logins.db
            """#)
        #expect(
            lines == [
                "alice calendar a,b None", "alice None read robot", "Authorization: Bearer eyJ",
                #""scopes":["read"],"expires_in":3600,"notice":null}"#, "1", "alice None read None", "alice None c None",
            ])
    }

    @Test("a kept token outlives the agent, ends with clear and logout, and is for its backend only")
    func kept() async throws {
        let lines = try await script(
            #"""
            foreign OAuthAuthZGrantType=OAuthTokenExchange
            refused 10 omvault token load work; grep -c none .refused
            exchange good --store
            one=$(omvault token get work)
            omvault -q agent stop
            refused 10 omvault token get work
            omvault token load work
            [[ $(omvault token get work) == "$one" ]] && echo same
            omvault token load work; omvault token ls | tail -n 1 | cut -f 1,2,6
            grep -rlaF "$one" "$HOME" || echo clean
            foreign OAuthAuthZGrantType=OAuthTokenExchange MobileBackendID=b-2
            refused 10 omvault token load work; grep -c other_backend .refused
            foreign OAuthAuthZGrantType=OAuthTokenExchange
            omvault token clear work; omvault token clear work
            refused 10 omvault token load work; refused 10 omvault token get work
            revoked() { grep -q /revoke "$seen"; }
            eventually revoked
            exchange good --store --user ada
            omvault -q agent stop
            omvault -q logout
            refused 10 omvault token load work
            # One token of a profile: another user's takes its place, and each end is an end at the server too.
            revocations() { grep -c '"/revoke"' "$seen" || true; }
            became() { [[ $(revocations) -ge $1 ]]; }
            before=$(revocations)
            exchange good --store --user ada; exchange good --store --user bob
            refused 10 omvault token get work --user ada
            eventually became $((before + 1))
            omvault token ls | tail -n 1 | cut -f 2
            omvault -q token revoke work
            refused 10 omvault token load work
            exchange good --store
            omvault -q agent stop
            omvault token clear work
            became $((before + 3)) && echo revoked
            # An agent that cannot take it: the ledger keeps it, so it stays valid.
            chmod 777 "$XDG_RUNTIME_DIR"
            exchange good --store 2> said; grep -c 'no session is kept' said
            chmod 700 "$XDG_RUNTIME_DIR"
            became $((before + 4)) || echo valid
            omvault token load work
            # Damage in the ledger hides no session from clear.
            sqlite3 "$HOME/.local/state/omvault/logins.db" \
                "update remembered set row = cast(substr(row, 1, length(row) - 1) || x'00' as blob)"
            omvault token clear work
            refused 10 omvault token get work
            eventually became $((before + 4))
            asked
            foreign OAuthAuthZGrantType=OAuthTokenExchange KeychainDataProtection=KeychainDataAccessibleWhenUnlocked
            refused 7 exchange good --store
            # The server was not asked: its answer would have been lost.
            asked
            """#)
        #expect(
            lines == [
                "1", "stored", "loaded", "same", "loaded", "work\tomvault\tyes", "clean", "1", "cleared", "cleared", "stored",
                "stored", "stored", "bob", "stored", "cleared", "revoked", "stored", "1", "valid", "loaded", "cleared", "6", "6",
            ])
    }

    @Test("a backend's id is in each request")
    func backend() async throws {
        let lines = try await script(
            #"""
            foreign OAuthAuthZGrantType=OAuthTokenExchange MobileBackendID=b-1
            exchange good > got
            grep -oi '"Oracle-Mobile-Backend-ID": "[^"]*"' "$seen"
            """#)
        #expect(lines == [#""Oracle-Mobile-Backend-ID": "b-1""#])
    }

    @Test("a user logs in with a JWT once; the server names the user, and another name is refused")
    func asserted() async throws {
        let lines = try await script(
            #"""
            enter() { omvault login "$@" --profile work | sed 's/ age=[0-9]*//'; }
            jwt() { foreign OAuthAuthZGrantType=OAuthAssertion "OAuthUserJWTAssertionValue=file:$PWD/$1.jwt" "${@:2}"; }
            jwt good
            enter
            enter
            omvault token get work | claims
            refused 24 omvault login --profile work --mode offline
            refused 51 omvault login --profile work --force
            refused 4 omvault login check alice --profile work
            jwt other "OAuthUserInfoEndpoint=http://127.0.0.1:$http/user"
            enter alice
            jwt robot "OAuthUserInfoEndpoint=http://127.0.0.1:$http/user"
            refused 51 omvault login alice --profile work --force; grep -c 'another user' .refused
            revoked() { grep -q /revoke "$seen"; }
            eventually revoked
            jwt expired
            refused 51 omvault token get work --no-agent
            cp secret key.jwt
            jwt key
            refused 9 omvault login --profile work
            """#)
        #expect(
            lines == [
                "granted online user=omvault profile=work not_cached=offline_not_allowed",
                "granted session user=omvault profile=work", "alice None read None",
                "granted online user=alice profile=work not_cached=offline_not_allowed", "1",
            ])
    }

    @Test("a client's key signs its own assertions, each for one request; locked, no server is asked")
    func minted() async throws {
        let lines = try await script(
            #"""
            printf 'correct horse' > vp
            OMVAULT_PASSWORD_FROM=file:vp omvault -q init --kdf-mem 8 --kdf-time 1 --no-recovery
            OMVAULT_PASSWORD_FROM=file:vp omvault -q cert csr robot --subject CN=robot -o robot.csr
            openssl req -in robot.csr -noout -pubkey > "$tokens/robot.pem"
            OMVAULT_PASSWORD_FROM=file:vp omvault -q cert csr other --subject CN=other -o other.csr
            robot() {
                foreign OAuthAuthZGrantType=OAuthAssertion OAuthClientID=robot OAuthIssuer=https://issuer.example \
                    OAuthClientKey=identity:robot "$@"
                omvault -q profile set work --unset OAuthClientSecret
            }
            robot OAuthClientAuthMethod=none
            refused 7 omvault token get work --no-agent --no-input
            refused 7 omvault login --profile work --no-input
            asked
            omvault -q unlock --password-from file:vp
            omvault token get work --no-agent | claims
            omvault login --profile work | cut -d ' ' -f 1-4
            omvault token get work | claims
            grep -c client_assertion "$seen" || true
            # Beside the client's own proof by the same key.
            robot OAuthClientAuthMethod=private_key_jwt
            omvault token get work --no-agent --scope b | claims
            grep -c client_assertion "$seen"
            robot OAuthClientKey=identity:other
            refused 51 omvault token get work --no-agent; grep -c 'public key of OAuthClientKey' .refused
            asked
            """#)
        #expect(
            lines == [
                "0", "robot None read None", "granted online user=robot profile=work", "robot None read None", "0",
                "robot None b None", "1", "1", "4",
            ], "\(lines)")
    }
}
