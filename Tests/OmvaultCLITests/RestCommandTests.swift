// `omvault rest`: tokens, redirects, exit codes, what is printed and what is refused, against nginx, glewlwyd and a server that breaks
// rules.

import Foundation
import TestSupport
import Testing

@Suite("Requests to web services") struct RestCommandTests {
    /// `say PATH STATUS BODY FIELD…` tells the odd server its next answers at /told/PATH, several behind `--`; `asked` prints what came there.
    private static let start = #"""
        set -o pipefail
        agent_folder
        unique() {
            serve odd
            oauth "OAuthTokenEndpoint=http://127.0.0.1:$http/token?as=${as:-unique}" TokenRelease=never "$@"
            login > /dev/null
        }
        say() {
            python3 - "http://127.0.0.1:$http/tell/$1" "${@:2}" << 'END'
        import json, sys, urllib.request
        answers, rest = [], sys.argv[2:]
        while rest:
            end = rest.index("--") if "--" in rest else len(rest)
            status, body, *fields = rest[:end]
            answers.append({"status": int(status), "body": body, "fields": fields})
            rest = rest[end + 1:]
        urllib.request.urlopen(urllib.request.Request(sys.argv[1], json.dumps(answers).encode()))
        END
        }
        asked() {
            python3 - "$seen" << 'END'
        import json, sys
        for line in open(sys.argv[1]):
            method, target, fields, body = json.loads(line)
            if target.startswith("/told/") or target.startswith("/token"):
                kept = [fields[name] for name in ("authorization", "cookie", "content-type", "x-own") if name in fields]
                print(method, target, *kept, body if target.startswith("/told/") else "")
        open(sys.argv[1], "w").close()
        END
        }
        code() { local code=0; "$@" 2> errors || code=$?; echo "$code"; }

        """#

    private static let renewal = "POST /token?as=unique application/x-www-form-urlencoded"

    private func script(_ text: String, _ location: SourceLocation = #_sourceLocation) async throws -> [String] {
        try await Serving.lines(Self.start + text, location).map { $0.trimmingCharacters(in: .whitespaces) }
    }

    // MARK: - C.2, 1 and 3: tokens

    @Test("nginx refuses the first token, the agent gets another one, and the body comes; TokenRelease=never changes nothing")
    func nginx() async throws {
        let lines = try await script(
            #"""
            serve nginx nginx
            unique "RESTOrigins=https://localhost:$port" "TrustedCA=$ca"
            mkdir "$www/repository"; echo content > "$www/repository/file"
            # nginx wants at-3, and the first token is at-2.
            omvault rest GET "https://localhost:$port/repository/file" --profile work
            omvault rest GET "https://localhost:$port/repository/file" --profile work -i | tr -d '\r' | sed -n '1p;$p'
            all_logged
            grep -c 'GET /repository/file' "$log"
            code omvault token get work
            """#)
        #expect(lines == ["content", "HTTP/1.1 200", "content", "3", "13"])
    }

    @Test("a second 401 ends: two requests, one refresh; 403 and 400 are tried again only with invalid_token")
    func refused() async throws {
        let lines = try await script(
            #"""
            unique
            u=http://127.0.0.1:$http/told
            get() { code omvault rest GET "$@" --profile work; }
            say always 401 no
            omvault rest GET $u/always --profile work > body 2> errors || echo $?; cat body; echo; asked
            say plain 403 no -- 200 yes; get $u/plain; echo
            say named 403 '{"error":"invalid_token"}' -- 200 yes; get $u/named
            say header 400 no 'WWW-Authenticate: Bearer error="invalid_token"' -- 200 yes; get $u/header
            say other 400 '{"error":"invalid_grant"}' -- 200 yes; get $u/other
            say scope 403 no 'WWW-Authenticate: Bearer error="insufficient_scope", scope="c d"'; get $u/scope; cat errors
            { omvault rest GET $u/scope --profile work --json 2>&1 > /dev/null || true; } | grep -o '"scope":"c d"'
            code omvault rest GET $u/scope; tail -n 1 errors
            asked | grep -c /token
            """#)
        #expect(
            lines == [
                "51", "no", Self.renewal, Self.renewal, "GET /told/always Bearer at-2", Self.renewal,
                "GET /told/always Bearer at-3", "no51", "yes0", "yes0", #"{"error":"invalid_grant"}1"#, "no51",
                "omvault: error: the server wants a token with the scopes c d",
                "omvault: hint: add them to OAuthScope of the profile, then log in again", #""scope":"c d""#, "no51",
                "omvault: hint: no token of a session was sent; --profile sends one", "2",
            ])
    }

    @Test("an answer that stops or breaks after 403 is printed as far as it came")
    func brokenRefusals() async throws {
        let lines = try await script(
            #"""
            unique
            u=http://127.0.0.1:$http/told
            say cut 403 hi 'Content-Length: 20'; code omvault rest GET $u/cut --profile work
            say stalls 403 here 'Content-Length: 20' 'X-Stalls: yes'
            omvault rest GET $u/stalls --profile work > came & rest=$!
            eventually grep -q here came; kill $rest; wait $rest || echo $?
            """#)
        #expect(lines == ["hi52", "143"])
    }

    @Test("sixteen requests with a token run at the same time, a renewal takes the place of the refused one, and one more is 61")
    func sixteen() async throws {
        let lines = try await script(
            #"""
            unique
            u=http://127.0.0.1:$http
            hang() { omvault rest GET $u/hanging --profile work & requests+=($!); }
            hanging() { [[ $(grep -c '"/hanging"' "$seen") = "$1" ]]; }
            requests=(); for number in {1..15}; do hang; done
            eventually hanging 15
            say a 401 no -- 200 yes; code omvault rest GET $u/told/a --profile work
            hang; eventually hanging 16
            code omvault rest GET $u/told/a --profile work --timeout 2
            kill "${requests[@]}"
            """#)
        #expect(lines == ["yes0", "61"])
    }

    @Test("a body from a file is sent again after a 401, and one from a pipe is not")
    func bodies() async throws {
        let lines = try await script(
            #"""
            unique
            u=http://127.0.0.1:$http/told
            printf 'the body' > file
            say a 401 no -- 200 yes; omvault rest PUT $u/a --profile work -d file:file --content-type text/plain; echo
            say b 401 no -- 200 yes; code bash -c "printf piped | omvault rest POST $u/b --profile work -d -"
            say c 200 yes; VALUE=secret omvault rest POST $u/c --profile work -d env:VALUE; echo
            omvault rest POST $u/c --profile work --field 'a=1 2&3' --field 'ü='; echo
            asked | grep told
            code omvault rest POST $u/c -d file:file --field a=b
            code omvault rest POST $u/c -d nothing
            """#)
        #expect(
            lines == [
                "yes", "no51", "yes", "yes", "PUT /told/a Bearer at-2 text/plain the body",
                "PUT /told/a Bearer at-3 text/plain the body", "POST /told/b Bearer at-3 piped",
                "POST /told/c Bearer at-3 secret",
                "POST /told/c Bearer at-3 application/x-www-form-urlencoded a=1+2%263&%C3%BC=", "2", "2",
            ])
    }

    @Test("Glewlwyd's user info comes with the token of a login, and not without it")
    func glewlwyd() async throws {
        let lines = try await script(
            #"""
            serve glewlwyd
            printf omvault-secret > secret
            oauth "oauth_discoveryURL=$issuer/.well-known/openid-configuration" "OAuthClientSecret=file:$PWD/secret" \
                OAuthScope=openid,profile
            login > /dev/null
            omvault rest GET "$issuer/userinfo" --profile work --json-body | grep -o '"sub"'
            code omvault rest GET "$issuer/userinfo" > status; tail -c 3 status
            """#)
        #expect(lines == [#""sub""#, "51"])
    }

    // MARK: - Processes

    @Test("the command itself opens no socket to the network, and the token is in none of its calls")
    func noSocket() async throws {
        let lines = try await script(
            #"""
            unique
            say a 200 yes
            strace -f -qq -s 4096 -o calls omvault rest GET http://127.0.0.1:$http/told/a --profile work; echo
            grep -c AF_INET calls || true; grep -c at-2 calls || true; grep -q AF_UNIX calls && echo unix
            asked | grep told
            """#)
        #expect(lines == ["yes", "0", "0", "unix", "GET /told/a Bearer at-2"])
    }

    @Test("a body that is larger than the memory of the processes comes whole, and Ctrl-C ends the helper too")
    func largeBody() async throws {
        let lines = try await script(
            #"""
            serve nginx nginx
            truncate -s 120M "$www/large"; mv "$www/large" "$www/index.html"
            python3 - "http://127.0.0.1:$plain/open" << 'END'
            import os, re, signal, subprocess, sys
            def processes(door):
                found = {door}
                for name in os.listdir("/proc"):
                    try:
                        if name.isdigit() and f"\nPPid:\t{door}\n" in open(f"/proc/{name}/status").read(): found.add(int(name))
                    except OSError: pass
                return found
            def peak(process):
                return int(re.search(r"VmHWM:\s+(\d+)", open(f"/proc/{process}/status").read())[1]) >> 10
            door = subprocess.Popen(["omvault", "rest", "GET", sys.argv[1]], stdout=subprocess.PIPE)
            count = len(door.stdout.read(100 << 20))
            peaks = [peak(process) for process in processes(door.pid)]
            count += len(door.stdout.read())
            print(len(peaks), max(peaks) <= 64 or peaks, count >> 20, door.wait())
            door = subprocess.Popen(["omvault", "rest", "GET", sys.argv[1]], stdout=subprocess.PIPE)
            door.stdout.read(1)
            helper, = processes(door.pid) - {door.pid}
            watched = os.pidfd_open(helper)
            door.send_signal(signal.SIGINT)
            import select
            print(door.wait(), select.select([watched], [], [], 60)[0] == [watched])
            END
            """#)
        #expect(lines == ["2 True 120 0", "-2 True"])
    }

    // MARK: - Where the token goes

    @Test("the token goes only to the origins of RESTOrigins: look-alike hosts, other ports and schemes get nothing")
    func origins() async throws {
        let lines = try await script(
            #"""
            unique
            get() { code omvault rest GET "$1" --profile work; }
            get http://localhost:$http/told/a; get https://127.0.0.1:$http/told/a; get http://127.0.0.1:$closed/told/a
            get http://127.0.0.2:$http/told/a; get https://127.0.0.1.b.example/told/a; get http://127.0.0.1:$http@b.example/told/a
            get http://b.example/told/a; get http://0x7f.1:$http/told/a
            asked | grep -c told || true
            """#)
        #expect(lines == ["13", "13", "13", "13", "13", "2", "2", "2", "0"])
    }

    @Test("redirects: the same origin keeps the token, another one gets neither it nor own headers, and none leads away from TLS")
    func redirects() async throws {
        let lines = try await script(
            #"""
            unique
            u=http://127.0.0.1:$http/told
            go() { code omvault rest "$@"; }
            say end 200 end
            say here 302 '' 'Location: /told/end'; say rel 307 '' 'Location: ../told/./end?q=1'
            say away 302 '' "Location: http://localhost:$http/told/end"
            say back 302 '' "Location: http://localhost:$http/told/back2"; say back2 302 '' "Location: $u/end"
            say loop 302 '' "Location: $u/loop"; say odd 302 '' 'Location: file:/etc/passwd'
            say keep 307 '' 'Location: /told/end'; say see 303 '' 'Location: /told/end'
            say awaypost 307 '' "Location: http://localhost:$http/told/end"
            go GET $u/here --profile work; go GET $u/here --profile work --follow 1; go GET $u/rel --profile work --follow 5
            asked | grep told; echo other
            go GET $u/away --profile work --follow 5; go GET $u/back --profile work --follow 5
            go GET $u/away --follow 5 -H 'Cookie: a=b' -H 'Authorization: own' -H 'X-Own: secret' -H 'Content-Type: a/b'
            asked | grep told; echo refused
            go GET $u/loop --profile work --follow 3; go GET $u/odd --follow 3
            asked | grep -c told; echo bodies
            go POST $u/keep --profile work --follow 1 --field a=b; go POST $u/see --profile work --follow 1 --field a=b
            go POST $u/awaypost --profile work --follow 1 --field a=b
            asked | grep told
            """#)
        #expect(
            lines == [
                "0", "end0", "end0", "GET /told/here Bearer at-2", "GET /told/here Bearer at-2", "GET /told/end Bearer at-2",
                "GET /told/rel Bearer at-2", "GET /told/end?q=1 Bearer at-2", "other", "end0", "end0", "end0",
                "GET /told/away Bearer at-2", "GET /told/end", "GET /told/back Bearer at-2", "GET /told/back2", "GET /told/end",
                "GET /told/away own a=b a/b secret", "GET /told/end a/b", "refused", "52", "52", "5", "bodies", "end0", "end0",
                "52",
                "POST /told/keep Bearer at-2 application/x-www-form-urlencoded a=b",
                "POST /told/end Bearer at-2 application/x-www-form-urlencoded a=b",
                "POST /told/see Bearer at-2 application/x-www-form-urlencoded a=b", "GET /told/end Bearer at-2",
                "POST /told/awaypost Bearer at-2 application/x-www-form-urlencoded a=b",
            ])
    }

    @Test("a redirect from https to http is never followed")
    func downgrade() async throws {
        let lines = try await script(
            #"""
            serve nginx nginx
            unique "RESTOrigins=https://localhost:$port" "TrustedCA=$ca"
            code omvault rest GET "https://localhost:$port/down" --profile work --follow 5
            omvault rest GET "https://localhost:$port/down" --profile work -i > answer; grep -ci '^location: http:' answer
            """#)
        #expect(lines == ["52", "1"])
    }

    // MARK: - Exit codes and output

    @Test("each status has its exit code, with the body printed; --any-status makes all of them 0, and retry_after is told")
    func exitCodes() async throws {
        let lines = try await script(
            #"""
            unique
            for status in 200 204 302 400 401 403 404 409 410 412 418 429 500 503; do
                say s $status ''; printf "$status "; code omvault rest GET http://127.0.0.1:$http/told/s
            done
            code omvault rest GET http://127.0.0.1:$http/told/s --any-status
            say wait 429 slow 'Retry-After: 7'
            { omvault rest GET http://127.0.0.1:$http/told/wait --json 2>&1 || true; } | grep -o '"retry_after":7\|"body":"slow"\|"status":429'
            code omvault rest GET http://127.0.0.1:$closed/
            code omvault rest GET https://localhost:$https/
            """#)
        #expect(
            lines == [
                "200 0", "204 0", "302 0", "400 1", "401 51", "403 51", "404 10", "409 12", "410 10", "412 12", "418 1", "429 52",
                "500 52", "503 52", "0", #""status":429"#, #""body":"slow""#, #""status":429"#, #""retry_after":7"#, "50", "52",
            ])
    }

    @Test(
        "a file of -o is there as a whole or not at all, and only with a status 2xx; --json-body refuses other content than JSON"
    )
    func files() async throws {
        let lines = try await script(
            #"""
            unique
            u=http://127.0.0.1:$http
            say a 200 '{"a": 1}'; say b 200 '{"a": 1} x'; say c 404 gone; say e 200 ''
            omvault rest GET $u/told/a -o one; cat one; echo
            code omvault rest GET $u/told/a -o one; omvault -q rest GET $u/told/b -o one --force; cat one; echo
            # The head says 1000 bytes, and 5 come.
            code omvault rest GET $u/cut -o two -H 'Authorization: x'; ls -A | grep -c two || true
            omvault rest GET $u/told/a --json-body; echo
            code omvault rest GET $u/told/b --json-body; code omvault rest GET $u/told/e --json-body
            code omvault rest GET $u/told/c --json-body
            omvault rest GET $u/told/a --json -o three | grep -o '"bytes":8'
            say d 503 down -- 404 '' -- 200 up; code omvault rest GET $u/told/d -o four
            code omvault rest GET $u/told/d -o four; omvault rest GET $u/told/d -o four; cat four; echo
            code omvault rest GET $u/told/c -o five --any-status; cat five; echo
            { omvault rest GET $u/told/c -o six --json 2> errors || true; } | grep -o '"body":"gone"'; ls six 2> /dev/null || true
            """#)
        #expect(
            lines == [
                #"{"a": 1}"#, "5", #"{"a": 1} x"#, "52", "0", #"{"a": 1}"#, "52", "52", "gone10", #""bytes":8"#, "down52", "10",
                "up", "0", "gone",
                #""body":"gone""#,
            ])
    }

    @Test("control characters are shown as text at a terminal, also when a piece cuts them, and are exact in a pipe")
    func terminal() async throws {
        let lines = try await script(
            #"""
            unique
            say esc 200 $'a\x1b[31mb\r\ncä\u202e\n'
            omvault rest GET http://127.0.0.1:$http/told/esc | od -An -c | tr -s ' '
            script -qec "omvault rest GET http://127.0.0.1:$http/told/esc" /dev/null | tr -d '\r'
            # Each byte is a piece.
            say cut 200 $'€\r\nä😀\x1b[31m\n' 'Transfer-Encoding: chunked'
            script -qec "omvault rest GET http://127.0.0.1:$http/told/cut" /dev/null | tr -d '\r'
            """#)
        #expect(
            lines == [
                #"a 033 [ 3 1 m b \r \n c 303 244 342 200 256 \n"#, #"a\u{1b}[31mb"#, #"cä\u{202e}"#, "€", #"ä😀\u{1b}[31m"#,
            ])
    }

    // MARK: - What is refused

    @Test("headers that would make a second request, or a second token, are refused, and no request goes out")
    func headers() async throws {
        let lines = try await script(
            #"""
            unique
            u=http://127.0.0.1:$http/told/a
            go() { code omvault rest GET $u "$@"; }
            go -H $'A: b\r\nC: d'; go -H $'A: b\nC: d'; go -H $'A\r: b'; go -H 'A b: c'; go -H 'no colon'
            go -H 'Content-Length: 5'; go -H 'transfer-encoding: chunked'; go -H 'Connection: close'; go -H 'Expect: 100-continue'
            for name in Authorization cookie Host; do go --profile work -H "$name: x"; done
            go --profile work -H 'Content-Length: 5'
            code omvault rest $'GET / HTTP/1.1\r\nA: b' $u; code omvault rest CONNECT $u; code omvault rest '' $u
            code omvault rest GET "http://127.0.0.1:$http/a b"; code omvault rest GET http://b.example/; code omvault rest GET file:/etc/passwd
            go --user alice; go --scopes a; go --follow 21; go --timeout 0; go --timeout 301
            go --profile work --scopes ''; go --profile work --scopes c --resource 'no address'
            asked | grep -c told || true
            """#)
        #expect(lines == Array(repeating: "2", count: 26) + ["0"])
    }

    @Test("an answer with 256 header lines is taken, and one with 257 or 1,001 is 52")
    func manyHeaders() async throws {
        let lines = try await script(
            #"""
            unique
            fields=(); for number in {1..1000}; do fields+=("X-$number: a"); done
            say most 200 yes "${fields[@]:0:255}"; omvault rest GET http://127.0.0.1:$http/told/most; echo
            say more 200 no "${fields[@]:0:256}"; code omvault rest GET http://127.0.0.1:$http/told/more
            say many 200 no "${fields[@]}"; code omvault rest GET http://127.0.0.1:$http/told/many; head -n 2 errors
            printf -v long '%090000d' 0
            say long 200 no "X-Long: $long"; code omvault rest GET http://127.0.0.1:$http/told/long; head -n 2 errors
            """#)
        #expect(
            lines == [
                "yes", "52", "52", "omvault: error: the headers of the answer are too long, or more than 256",
                "omvault: hint: ask the administrator of the server", "52",
                "omvault: error: the headers of the answer are too long, or more than 256",
                "omvault: hint: ask the administrator of the server",
            ])
    }

    @Test("without a session there is no request: 10 with the SDK's 10023; a scope that the token lacks is 13")
    func sessions() async throws {
        let lines = try await script(
            #"""
            unique
            u=http://127.0.0.1:$http/told/a
            say a 200 yes
            omvault rest GET $u --profile work --scopes a,b; echo
            code omvault rest GET $u --profile work --scopes c
            omvault -q logout alice --profile work
            code omvault rest GET $u --profile work; grep sdk errors
            asked | grep -c told
            """#)
        #expect(lines == ["yes", "13", "10", "omvault: sdk: ORAIDMMOBILE-10023", "1"])
    }

    @Test("no variable of a proxy is read, no compression is offered, no cookie is kept, and a stalled answer ends in time")
    func plainness() async throws {
        let lines = try await script(
            #"""
            unique
            say a 302 '' 'Set-Cookie: a=b; Path=/' 'Location: /told/b'; say b 200 yes
            export http_proxy=http://127.0.0.1:$closed HTTP_PROXY=http://127.0.0.1:$closed ALL_PROXY=http://127.0.0.1:$closed
            omvault rest GET http://127.0.0.1:$http/told/a --follow 1; echo
            python3 -c '
            import json, sys
            rows = [json.loads(line) for line in open(sys.argv[1])]
            fields = [row[2] for row in rows if row[1].startswith("/told/")]
            print(len(fields), [name in field for field in fields for name in ("accept-encoding", "cookie")])
            ' "$seen"
            code omvault rest GET http://127.0.0.1:$http/hanging --timeout 1
            code omvault rest GET http://127.0.0.1:$http/drip-body --timeout 1 -H 'Authorization: x' -o file; ls file 2> /dev/null || true
            """#)
        #expect(lines == ["yes", "2 [False, False, False, False]", "50", "50"])
    }
}
