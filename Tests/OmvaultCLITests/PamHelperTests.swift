// The process that PAM's module starts: no key, limit or signal of the user's gets between a charge and its settlement.

import Foundation
import Glibc
import TestSupport
import Testing

@Suite("PAM's helper belongs to no terminal", .enabled(if: geteuid() == 0, "only root has a system store"))
struct PamHelperTests {
    /// `hold` takes the lock of the log of logins, for which each settlement waits: an attempt then stays between its charge
    /// and its settlement. `typed` asks for a password at the terminal and says when the helper is there; once the program that
    /// asked has stopped or ended the lock is free, and the helper has to end.
    private static let between = #"""
        hold() {
            mkfifo held release
            python3 -c '
        import fcntl, glob, os, sqlite3
        rows = [row[0].hex() for row in sqlite3.connect("/var/lib/omvault/logins.db").execute("SELECT id FROM logins")]
        locks = glob.glob("/var/lib/omvault/device/login-*.lock")
        [log] = [lock for lock in locks if os.path.basename(lock)[6:-5] not in rows]
        file = open(log)
        fcntl.flock(file, fcntl.LOCK_EX)
        open("held", "w").write("held\n")
        open("release").readline()' &
            read -r < held
        }
        # A stopped process does not end. A zombie has ended.
        ends() {
            ended() {
                local state
                state=$(ps -o state= -p "$1") || return 0
                [[ $state != [Tt] ]] || { echo 'the helper was stopped'; exit 95; }
                [[ $state == Z ]]
            }
            eventually ended "$1"
        }
        declare -f ends > typed
        cat >> typed <<'TYPED'
        set -m
        (
            charged() { omvault login status ada --profile work --system --json | grep -q '"charged":1'; }; eventually charged
            helper=$(pgrep -P "$(pgrep -P $$ -x pamtester)")
            echo "$helper" > helper
            cat "/proc/$helper/limits" > limits
            ps -o pid=,sid=,tty= -p "$helper" > session
            grep SigBlk "/proc/$helper/status" > blocked
            echo between
        ) &
        pamtester omvault-test ada authenticate || echo "ended $?"
        # While that program is stopped: the helper goes on by itself, and so does another user.
        echo > release
        ends "$(< helper)"
        pamtester omvault-test bob authenticate < right
        TYPED
        enroll ada work right; enroll bob work right
        answers bob wrong 'Authentication failure'; granted bob right
        settled() { omvault login status ada --profile work --system --json | grep '"charged":1,"failed":1'; }

        """#

    @Test(
        "Ctrl-\\ and Ctrl-Z between charge and settlement stop the program that asks, and not the helper",
        arguments: [
            ("\u{1C}", 131), ("\u{1A}", 148),
        ])
    func keys(key: String, ends status: Int) async throws {
        let shown = try await PamTests().inSystem(
            Self.between + """
                hold
                bash typed
                # A session of its own, and no terminal.
                read -r pid sid tty < session
                [[ $pid == "$sid" && $tty == '?' ]]
                grep -i 1b84007 blocked
                settled
                """, typed: [("Password: ", "wrong\n"), ("between", key)])
        #expect(shown.contains("ended \(status)") && shown.contains("successfully authenticated"), "\(shown)")
    }

    @Test("the helper has limits of its own, and those of the user's shell do not end it")
    func limits() async throws {
        try await PamTests().inSystem(
            Self.between + #"""
                (ulimit -S -f 1 -t 5 -n 30; answers ada wrong 'Authentication failure')
                settled
                granted ada right
                hold
                sed -i 's/^pamtester omvault-test ada.*/(ulimit -S -t 5 -n 30; exec pamtester omvault-test ada authenticate) || :/' typed
                bash typed
                for line in 'cpu time +600 +600' 'file size +1073741824 +1073741824' 'data size +2147483648' \
                    'stack size +8388608' 'open files +256 +256' 'address space +4294967296'; do
                    grep -E "Max $line" limits
                done
                """#, typed: [("Password: ", "wrong\n"), ("between", "\u{1C}")])
    }

    /// `asked` starts a program that asks with a wrong password, behind the command that is given, and goes on once its helper
    /// has charged the attempt and waits.
    private static let asking = #"""
        asked() {
            "$@" pamtester omvault-test ada authenticate < wrong > said 2>&1 &
            program=$!
            charged() { omvault login status ada --profile work --system --json | grep -q '"charged":1'; }; eventually charged
            helper=$(pgrep -P $program)
        }

        """#

    /// Whether control groups of version 2 can be made here.
    private static func hasControlGroups() async throws -> Bool {
        let makes = """
            mount -t cgroup2 none /sys/fs/cgroup && mkdir "$0$$" && echo $$ > "$0$$/cgroup.procs" &&
                echo 0 > /sys/fs/cgroup/cgroup.procs && rmdir "$0$$"
            """
        let command = ["/usr/bin/unshare", "-m", "/bin/sh", "-c", makes, "/sys/fs/cgroup/omvault-test-"]
        return try await run(command, in: try TestFolder()).status == 0
    }

    @Test(
        "freezing or killing the caller's control group does not reach the helper, which is in the root group",
        .enabled("no control group of version 2 can be made here") { try await hasControlGroups() },
        arguments: ["freeze", "kill"])
    func controlGroup(does: String) async throws {
        try await PamTests().inSystem(
            Self.between + Self.asking + #"""
                mount -t cgroup2 none /sys/fs/cgroup
                group=/sys/fs/cgroup/omvault-test-$$
                mkdir "$group"
                trap 'echo 1 > "$group/cgroup.kill"; eventually rmdir "$group" 2> /dev/null' EXIT
                inside() { echo $BASHPID > "$group/cgroup.procs"; exec "$@"; }
                hold
                asked inside
                grep -qx "0::/${group##*/}" /proc/$program/cgroup
                grep -qx 0::/ /proc/$helper/cgroup
                echo 1 > "$group/cgroup.\#(does)"
                case \#(does) in
                freeze) eventually grep -qx 'frozen 1' "$group/cgroup.events" ;;
                kill) refused 137 wait $program ;;
                esac
                echo > release
                ends $helper
                settled
                granted bob right
                """#)
    }

    @Test("the helper has the system's usual priority, processors and timer slack, whatever those of its caller")
    func priority() async throws {
        try await PamTests().inSystem(
            Self.between + Self.asking + #"""
                cat > slow <<'PYTHON'
                import ctypes, os, sys
                os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
                os.nice(7)
                os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
                # The slack of its timers: a second.
                ctypes.CDLL(None).prctl(29, 10**9, 0, 0, 0)
                open("/proc/self/oom_score_adj", "w").write("900")
                os.execvp("ionice", ["ionice", "-c", "3", *sys.argv[1:]])
                PYTHON
                facts() {
                    echo "nice and policy $(cut -d ' ' -f 19,41 < /proc/$1/stat)"
                    grep Cpus_allowed: /proc/$1/status
                    echo "slack $(< /proc/$1/timerslack_ns) killed first $(< /proc/$1/oom_score_adj)"
                    ionice -p $1
                }
                hold
                asked python3 slow
                facts $program > programs
                facts $helper > helpers
                echo > release
                ends $helper
                python3 -c '
                import os
                os.sched_setaffinity(0, range(1024))
                print(*[line for line in open("/proc/self/status") if line.startswith("Cpus_allowed:")], end="")' > every
                diff helpers - <<FACTS
                nice and policy 0 0
                $(< every)
                slack 50000 killed first 0
                none: prio 0
                FACTS
                diff programs - <<FACTS
                nice and policy 7 5
                Cpus_allowed:	$(sed -n 's/^Cpus_allowed:	//p' programs)
                slack 1000000000 killed first 900
                idle
                FACTS
                settled
                """#)
    }

    /// A helper that answers, and then does what the script says.
    private static let answering = #"""
        helper=/usr/libexec/omvault/omvault-pam-helper
        answering() {
            cat > "$helper" <<PYTHON
        #!/usr/bin/python3
        import os, socket, sys, time
        open("$PWD/helper", "w").write(str(os.getpid()))
        module = socket.socket(fileno=0)
        question = module.recv(100)
        $1
        PYTHON
            chmod 755 "$helper"
        }
        gone() { [[ ! -e /proc/$(< helper) ]]; }

        """#

    @Test("the module's wait for a helper that goes on after its verdict ends, and the module ends that helper")
    func endless() async throws {
        try await PamTests().inSystem(
            Self.answering + #"""
                answering 'module.send(b"OMA2" + question[4:20] + b"W" + bytes(4)); time.sleep(1000)'
                answers ada right 'Authentication failure'
                gone
                # An answer of another length or form is none.
                for answer in 'b"OMA1" + question[4:20] + b"G" + bytes(4)' 'b"OMA2" + question[4:20] + b"G"' \
                    'b"OMA2" + bytes(16) + b"G" + bytes(4)'; do
                    answering "module.send($answer)"
                    answers ada right 'Error in service module'
                done
                """#)
    }

    @Test("a helper is ended by its descriptor, and never by a process number, which may be another process's")
    func descriptor() async throws {
        try await PamTests().inSystem(
            Self.answering + #"""
                # The program ignores its children, so the kernel forgets a dead one at once.
                trap '' CHLD
                module profile=work deadline=1
                for does in 'os._exit(1)' 'time.sleep(1000)'; do
                    answering "$does"
                    strace -f -qq -o trace -e trace=kill,tkill,pidfd_send_signal pamtester omvault-test ada authenticate \
                        < right > said 2>&1 || :
                    grep -q 'Error in service module' said
                    refused 1 grep -E ' (kill|tkill)\(' trace
                    gone
                done
                grep -q 'pidfd_send_signal(.*SIGKILL.*= 0' trace
                """#)
    }
}
