// A login on a disk that refuses, and a login that is killed while it caches a server's answer. Kills of an offline attempt are in
// CrashTests.

import Foundation
import TestSupport
import Testing

/// Both errors at each call and every kill are tried in a whole run; a sample tries the errors in turn at every third call, and
/// where an online login is cached at every fifth.
private let step = "\(Sweep.count(1, sample: 3))", longStep = "\(Sweep.count(1, sample: 5))"

@Suite struct LoginFaultTests {
    /// `refuse COMMAND…` runs it in a copy of `site` for each write, sync, cut and unlink it makes, with that one refused.
    /// Prints the call, the exit code, how many marks of the login were on the disk by the end, and then what the command
    /// said and what the login is like, as JSON.
    private static let refuse = """
        refuse() {
            for call in pwrite64 fdatasync fsync ftruncate unlink link; do
                local n=$((1 - STEP))
                while n=$((n + STEP)); do
                    local error=$ERROR
                    if test "$error" = turn; then error=EIO; test $((n % 2)) = 0 && error=ENOSPC; fi
                    rm -rf h; cp -a site h
                    id=$(sqlite3 h/.local/state/omvault/logins.db 'SELECT lower(hex(id)) FROM logins' 2> /dev/null || true)
                    local status=0
                    strace --seccomp-bpf -f -qq -y -o trace -e trace=$call,fdatasync -e inject=$call:error=$error:when=$n \\
                        "$@" > out 2> said || status=$?
                    grep INJECTED trace > hit || break
                    printf '%s %s %s\\t%s\\t%s\\t%s\\t%s\\n' $call $n $error $status \\
                        "$(grep -c "fdatasync(.*login-$id.mark>) *= 0" trace || true)" "$(cat out)" "$(omvault login status --json)"
                    after
                done
            done
        }
        after() { :; }

        """

    private struct Line {
        let text: String
        let status: Int
        let marks: Int
        let said: [String: Any]
        let login: [String: Any]?

        init(_ text: String) throws {
            self.text = text
            let parts = text.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            try #require(parts.count == 5, "\(text)")
            (status, marks) = (try #require(Int(parts[1])), try #require(Int(parts[2])))
            said = parts[3].isEmpty ? [:] : try Ran.json(parts[3])
            let logins = try Ran.json(parts[4])["logins"] as? [[String: Any]] ?? []
            login = logins.first
        }

        var charged: Int { login?["charged"] as? Int ?? -1 }
        var failed: Int { login?["failed"] as? Int ?? -1 }
        var reason: String? { login?["reason"] as? String }
    }

    @Test(
        "R5, 6 an attempt on a disk that refuses is charged before it is checked, or says nothing about the password",
        arguments: ["right", "wrong", "exceeding"], Sweep.isWhole ? ["EIO", "ENOSPC"] : ["turn"])
    func attempts(kind: String, error: String) async throws {
        let ran = try await bash(
            Self.refuse + """
                set -e
                mkdir site; export HOME=$PWD/site
                printf right > right; printf wrong > wrong
                omvault -q profile set p OfflineAuthAllowed=true MaxLoginAttempts=1 OnAttemptsExceeded=wipe
                omvault -q login enroll ada --profile p --password-from file:right --kdf-mem 8 --kdf-time 1
                check() { omvault login check ada --mode offline --password-from "file:$1"; }
                \(kind == "exceeding" ? "refused 20 check wrong" : "")
                export HOME=$PWD/h
                refuse omvault login check ada --json --mode offline --password-from file:\(kind == "right" ? "right" : "wrong")
                """, environment: ["ERROR": error, "STEP": step])
        #expect(ran.status == 0, "\(ran)")
        var verdicts = 0, refusals = 0
        for text in ran.output.split(separator: "\n") {
            let line = try Line(String(text))
            if line.status == 60 {
                refusals += 1
                #expect(line.said["reason"] as? String == "storage", "\(text)")
            } else {
                verdicts += 1
                // The password was looked at: then its charge was on the disk, row and mark.
                #expect(line.marks >= 1, "\(text)")
            }
            switch (kind, line.status) {
            case ("right", 0): #expect(line.charged == 0 || line.said["degraded"] as? Bool == true, "\(text)")
            case ("right", 60): #expect((0...1).contains(line.charged) && line.failed == 0 && line.reason == nil, "\(text)")
            case ("wrong", 20): #expect(line.charged == 1 && line.failed == 1, "\(text)")
            case ("wrong", 60): #expect((0...1).contains(line.charged) && line.failed <= line.charged, "\(text)")
            case ("exceeding", 23): #expect(line.failed == 2 && line.reason == "wiped", "\(text)")
            case ("exceeding", 60):
                let isWiped = line.reason == "wiped" && line.failed == 2
                let isLocked = line.reason == "locked_out" && line.charged == 2 && line.failed == 1
                #expect(isWiped || isLocked || line.reason == nil && line.charged == 1 && line.failed == 1, "\(text)")
            default: Issue.record("\(text)")
            }
        }
        // Without a call to refuse, everything above would pass by itself.
        #expect(verdicts > 1 && refusals > 3, "\(verdicts) verdicts, \(refusals) refusals")
        print("faults of a \(kind) attempt, \(error): \(verdicts) verdicts, \(refusals) refused")
    }

    private static let online = """
        set -e
        \(Serving.start)
        mkdir site h
        serve web nginx
        export HOME=$PWD/site
        omvault -q profile set work AuthServerType=HTTPBasicAuthentication "LoginURL=https://localhost:$port/login" \\
            "LogoutURL=https://localhost:$port/login" "TrustedCA=$ca" ConnectTimeOut=30 TotalTimeOut=30 \\
            OfflineAuthAllowed=true MaxLoginAttempts=1
        check() {
            omvault -q login check alice --kdf-mem 8 --kdf-time 1 --password-from file:right "$@" > /dev/null 2>&1 || echo "exit $?"
        }

        """

    @Test(
        "R5 a server's yes is granted on a disk that refuses, and a credential is cached only if the login says so",
        arguments: ["first", "again"], Sweep.isWhole ? ["EIO", "ENOSPC"] : ["turn"])
    func caching(time: String, error: String) async throws {
        let ran = try await bash(
            Self.online + Self.refuse + """
                \(time == "again" ? "check" : "")
                export HOME=$PWD/h
                after() { check --mode offline | sed 's/^/offline /'; }
                refuse omvault -q login check alice --json --kdf-mem 8 --kdf-time 1 --password-from file:right
                """,
            environment: ["ERROR": error, "STEP": longStep].merging(try await Server.environment) { $1 })
        #expect(ran.status == 0, "\(ran)")
        var cached = 0, uncached = 0
        for text in ran.output.split(separator: "\n") {
            if text.hasPrefix("offline ") {
                #expect(text == "offline exit 24" && time == "first", "\(text)")
                continue
            }
            let line = try Line(String(text))
            #expect(line.status == 0 && line.said["mode"] as? String == "online", "\(text)")
            if line.said["not_cached"] is NSNull {
                cached += 1
                #expect(line.charged == 0 && line.failed == 0 && line.reason == nil, "\(text)")
            } else {
                uncached += 1
                // As it was before, charged at most for the look whether the key could be kept.
                #expect(line.charged <= 1 && line.failed <= 0, "\(text)")
            }
        }
        #expect(cached > 1 && uncached > 1, "\(cached) cached, \(uncached) not")
        print("faults of an online login, \(time), \(error): \(cached) cached, \(uncached) not")
    }

    @Test(
        "R3 an online login killed anywhere while it is cached leaves a credential or nothing, and no damage",
        arguments: ["first", "again"])
    func killed(time: String) async throws {
        let ran = try await bash(
            Self.online + """
                \(time == "again" ? "check" : "")
                export HOME=$PWD/h
                for call in pwrite64 fdatasync unlink link; do
                    n=$((1 - STEP))
                    while n=$((n + STEP)); do
                        rm -rf h; cp -a site h
                        code=0
                        strace -f -qq -o trace -e trace=$call -e inject=$call:signal=SIGKILL:when=$n \\
                            omvault -q login check alice --kdf-mem 8 --kdf-time 1 --password-from file:right > said 2>&1 || code=$?
                        test $code = 137 || break
                        echo "$call $n: $(check --mode offline) $(test -s said && echo said) $(check) $(check --mode offline)"
                    done
                done
                """, environment: ["STEP": step].merging(try await Server.environment) { $1 })
        #expect(ran.status == 0, "\(ran)")
        let lines = ran.output.split(separator: "\n")
        for line in lines {
            // A login that was granted before the kill is cached.
            let states = time == "first" ? ["", "said", "exit 24"] : ["", "said"]
            let outcome = line.split(separator: ": ", maxSplits: 1).last?.trimmingCharacters(in: .whitespaces) ?? "none"
            #expect(states.contains(outcome), "\(line)")
        }
        #expect(lines.count > 3, "\(lines)")
    }
}
