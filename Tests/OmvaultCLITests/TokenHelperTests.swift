// The helpers of git, kubectl and docker: their protocols, and real programs against nginx, which demands the token.

import Foundation
import OMJSON
import TestSupport
import Testing

@Suite("Helpers that give access tokens") struct TokenHelperTests {
    /// A session at an endpoint whose tokens all differ. The first token has no life, so the first that is given out is "at-2".
    private static let start = #"""
        set -o pipefail
        agent_folder
        unique() {
            serve odd
            oauth "OAuthTokenEndpoint=http://127.0.0.1:$http/token?as=unique" TokenRelease=allow "$@"
            login > /dev/null
        }
        git_helper() { omvault helper git --profile work "$@" 2> errors; }
        expiry() { sed -E 's/^(password_expiry_utc=)[0-9]{10}$/\1N/'; }

        """#

    private func script(_ text: String, _ location: SourceLocation = #_sourceLocation) async throws -> [String] {
        try await Serving.lines(Self.start + text, location)
    }

    @Test("git clones from nginx with the token as a password, and after a 401 the next try has another token")
    func git() async throws {
        let lines = try await script(
            #"""
            serve nginx nginx
            unique "RESTOrigins=https://localhost:$port"
            export GIT_TERMINAL_PROMPT=0 GIT_CONFIG_NOSYSTEM=1 GIT_SSL_CAINFO=$ca
            git config --global user.name ada; git config --global user.email ada@example.org
            git config --global init.defaultBranch main
            git config --global credential.helper '!omvault helper git --profile work'
            git init -q made; echo hello > made/file; git -C made add file; git -C made commit -qm first
            mkdir "$www/repository"
            git clone -q --bare made "$www/repository/made.git"; git -C "$www/repository/made.git" update-server-info
            # nginx wants at-3, and the first token is at-2. git erases it.
            git clone -q "https://localhost:$port/repository/made.git" one 2> errors && echo too early
            git clone -q "https://localhost:$port/repository/made.git" two && cat two/file
            git clone -q "https://alice@localhost:$port/repository/made.git" three && cat three/file
            omvault token get work --format header | curl -sS --cacert "$ca" -H @- \
                "https://localhost:$port/repository/made.git/HEAD"
            # No other server gets it.
            git clone -q "https://127.0.0.1:$port/repository/made.git" four 2> errors && echo given
            grep -c grant_type=refresh_token "$seen"
            """#)
        #expect(lines == ["hello", "hello", "ref: refs/heads/main", "2"])
    }

    @Test("the helper of git answers get, does nothing for store and other words, and erase counts for the token that it names")
    func protocolOfGit() async throws {
        let lines = try await script(
            #"""
            unique
            own=$(printf 'protocol=http\nhost=127.0.0.1:%s' "$http")
            echo plain; printf '%s\n\n' "$own" | git_helper get | expiry
            echo schemes; printf 'capability[]=state\ncapability[]=authtype\n%s\nusername=oauth2\nwwwauth[]=Basic\n' "$own" \
                | git_helper get | expiry
            echo others
            printf '%s\n' "$own" | git_helper approve; printf '%s\n' "$own" | git_helper store
            printf 'protocol=http\nhost=localhost:%s\n' "$http" | git_helper get
            printf 'protocol=ssh\nhost=127.0.0.1:%s\n' "$http" | git_helper get
            printf 'protocol=https\nhost=127.0.0.1:%s\n' "$http" | git_helper get
            echo erased
            erase() { printf '%s\nusername=alice\n%s' "$own" "$1" | git_helper erase; }
            password() { printf '%s\n' "$own" | git_helper get | sed -n 's/^password=//p'; }
            erase $'password=at-1\n'; password
            erase $'password=at-2\n'; erase $'password=at-2\n'; password
            erase $'password=at-2\n'; password
            erase ''; password
            # Another server's refusal says nothing.
            printf 'protocol=https\nhost=b.example\npassword=at-4\n' | git_helper erase; password
            """#)
        #expect(
            lines == [
                "plain", "username=alice", "password=at-2", "password_expiry_utc=N", "schemes", "capability[]=authtype",
                "authtype=Bearer", "credential=at-2", "ephemeral=1", "username=oauth2", "password=at-2", "password_expiry_utc=N",
                "others", "erased", "at-2", "at-3", "at-3", "at-4", "at-4",
            ])
    }

    @Test("a request of git that is not understood is refused, with a reason and without a token")
    func malformed() async throws {
        let lines = try await script(
            #"""
            unique
            own=$(printf 'protocol=http\nhost=127.0.0.1:%s' "$http")
            asked() { local code=0; git_helper get > given || code=$?; echo "$code $(wc -c < given) $(head -n 1 errors)"; }
            printf 'protocol=http\n\n' | asked
            printf 'host=127.0.0.1:%s\n' "$http" | asked
            printf 'protocol=http\nhost=\n' | asked
            asked < /dev/null
            printf '%s\r\n' "$own" | asked
            printf '%s\nusername=a\0b\n' "$own" | asked
            printf '%s\nnonsense\n' "$own" | asked
            printf '%s\n=x\n' "$own" | asked
            printf '%s\nhost=b.example\n' "$own" | asked
            printf '%s\npassword=a\npassword=b\n' "$own" | asked
            printf 'protocol=https\nhost=a.example/b\n' | asked
            printf 'protocol=https\nhost=a.example?b\n' | asked
            printf 'protocol=https\nhost=user@a.example\n' | asked
            printf '%s\nusername=\xff\n' "$own" | asked
            { printf '%s\nx=' "$own"; head -c 1048576 /dev/zero | tr '\0' a; } > large; asked < large
            """#)
        let not = "omvault: error: the request of git is not understood: "
        let host = "its host is not a host with perhaps a port"
        #expect(
            lines == [
                "it names no protocol or no host", "it names no protocol or no host", "it names no protocol or no host",
                "it names no protocol or no host", "it has a NUL or a carriage return", "it has a NUL or a carriage return",
                "a line has no name with \"=\" behind it", "a line has no name with \"=\" behind it", "it has host twice",
                "it has two passwords", host, host, host, "it is not UTF-8",
            ].map { "2 0 \(not)\($0)" } + ["2 0 omvault: error: the request of git is longer than 64 KiB"])
    }

    @Test("over plain http a token goes only to this machine, whatever RESTOrigins says")
    func plainHTTP() async throws {
        let lines = try await script(
            #"""
            unique 'RESTOrigins=http://a.example,https://a.example,http://localhost'
            for server in 'http a.example' 'https a.example' 'http localhost' 'https localhost'; do
                read -r scheme host <<< "$server"
                printf 'protocol=%s\nhost=%s\n' "$scheme" "$host" | git_helper get | grep -c ^password= || true
            done
            """#)
        #expect(lines == ["0", "1", "1", "0"])
    }

    @Test("kubectl gets an ExecCredential of its version for a cluster in RESTOrigins, and nothing is asked at a terminal")
    func kubectl() async throws {
        let lines = try await script(
            #"""
            unique "RESTOrigins=https://kube.example.org:6443"
            info() {
                printf '{"apiVersion":"client.authentication.k8s.io/%s","kind":"ExecCredential","spec":{"interactive":true%s}}' "$@"
            }
            cluster=',"cluster":{"server":"https://kube.example.org:6443","config":null}'
            asked() { local code=0; KUBERNETES_EXEC_INFO=$1 omvault helper kubectl --profile work 2> errors || code=$?; [[ $code == 0 ]] || echo "$code $(head -n 1 errors)"; }
            for version in v1 v1beta1 v1alpha1; do asked "$(info $version "$cluster")"; done
            asked "$(info v1 '')"
            asked "$(info v1 ',"cluster":{"server":"https://kube.example.org"}')"
            asked "$(info v1 ',"cluster":{"server":"https://kube.example.org:6443@evil.example"}')"
            asked '{"kind":"Pod"}'; asked '{'; asked ''
            oauth "OAuthTokenEndpoint=http://127.0.0.1:$http/token?as=unique" TokenRelease=confirm \
                RESTOrigins=https://kube.example.org:6443
            login > /dev/null
            asked "$(info v1 "$cluster")"
            """#)
        try #require(lines.count == 10, "\(lines)")
        for (line, version) in zip(lines, ["v1", "v1beta1"]) {
            let members = try #require(try JSON(parsing: Array(line.utf8).span).members)
            #expect(Set(members.keys) == ["apiVersion", "kind", "status"])
            #expect(members["apiVersion"]?.text == "client.authentication.k8s.io/\(version)")
            #expect(members["kind"]?.text == "ExecCredential")
            let status = try #require(members["status"]?.members)
            #expect(Set(status.keys) == ["expirationTimestamp", "token"] && status["token"]?.text == "at-2")
            #expect(status["expirationTimestamp"]?.text?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil)
        }
        #expect(lines.dropFirst(2).map { $0.prefix { $0 != " " } } == ["4", "13", "13", "13", "2", "2", "2", "8"])
    }

    @Test("docker's helper gives, lists and forgets, by its own name too, and says in docker's words that there is nothing")
    func docker() async throws {
        let lines = try await script(
            #"""
            unique 'RESTOrigins=https://registry.example.org,http://localhost:5000'
            ln -s "$(command -v omvault)" docker-credential-omvault
            export OMVAULT_DOCKER_PROFILE=work
            docker() { local code=0; printf '%s' "${2-}" | ./docker-credential-omvault "$1" 2> errors || code=$?; [[ $code == 0 ]] || echo "exit $code"; }
            docker get https://registry.example.org
            docker get registry.example.org
            docker get https://registry.example.org/v1/
            docker get localhost:5000
            docker get https://index.docker.io/v1/
            docker get 'registry.example.org
            evil.example'
            docker list
            docker store '{"ServerURL":"https://registry.example.org","Username":"a","Secret":"b"}'
            docker erase registry.example.org
            docker get registry.example.org
            docker get "$(head -c 70000 /dev/zero | tr '\0' a)"
            docker version; docker ''
            echo registry.example.org | omvault helper docker --profile work get
            omvault -q logout alice
            docker list; docker get registry.example.org
            unset OMVAULT_DOCKER_PROFILE
            docker get registry.example.org; cat errors
            """#)
        func found(_ address: String, _ token: String) -> String {
            #"{"ServerURL":"\#(address)","Username":"alice","Secret":"\#(token)"}"#
        }
        let none = ["credentials not found in native keychain", "exit 1"]
        #expect(
            lines == [
                found("https://registry.example.org", "at-2"), found("registry.example.org", "at-2"),
                found("https://registry.example.org/v1/", "at-2"), found("localhost:5000", "at-2"),
            ] + none + none
                + [
                    #"{"https://registry.example.org":"alice","http://localhost:5000":"alice"}"#,
                    found("registry.example.org", "at-3"), "exit 2", "exit 2", "exit 2", found("registry.example.org", "at-3"),
                    "{}",
                ] + none
                + [
                    "exit 2", "omvault: error: OMVAULT_DOCKER_PROFILE is not set",
                    "omvault: hint: export OMVAULT_DOCKER_PROFILE=NAME, with the name of the profile",
                ])
    }

    @Test("without a session, and with TokenRelease=never, a helper gives nothing and says why")
    func refused() async throws {
        let lines = try await script(
            #"""
            unique
            own=$(printf 'protocol=http\nhost=127.0.0.1:%s' "$http")
            asked() { local code=0; printf '%s\n' "$own" | git_helper get || code=$?; echo "$code $(head -n 1 errors)"; }
            omvault -q logout alice
            asked
            printf '%s\n' "$own" | git_helper erase && echo erased
            oauth "OAuthTokenEndpoint=http://127.0.0.1:$http/token?as=unique" TokenRelease=never
            login > /dev/null
            asked
            """#)
        #expect(
            lines == [
                "10 omvault: error: there is no valid session under profile \"work\"", "erased",
                "13 omvault: error: TokenRelease was never at the login, so the agent gives no token of this session",
            ])
    }
}
