// The process that PAM's module starts: no key, limit or signal of the user's gets between a charge and its settlement.

import Foundation
import Glibc
import Testing

@Suite("PAM's helper belongs to nobody's terminal", .enabled(if: geteuid() == 0, "only root has a system store"))
struct PamHelperTests {
    /// `hold` takes the lock of the log of logins, for which each settlement waits: an attempt then stays between its charge
    /// and its settlement. `press KEY` types a wrong password at a terminal, and the key while the helper is there; then the lock
    /// is free, and the helper has to end.
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
        cat > typed <<'TYPED'
        set -m
        (
            until omvault login status ada --profile work --system --json | grep -q '"charged":1'; do :; done
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
        python3 -c '
        import os, select
        try:
            process = os.pidfd_open(int(open("helper").read()))
        except ProcessLookupError:
            raise SystemExit
        assert select.select([process], [], [], 20)[0], "the helper was stopped"' || exit 95
        pamtester omvault-test bob authenticate < right
        TYPED
        press() {
            TEST_SCRIPT=$(< typed) TEST_DIALOGUE='[["Password: ", "wrong\n"], ["between", "'"$1"'"]]' python3 "$TEST_DRIVER" > shown
        }
        enroll ada work right; enroll bob work right
        answers bob wrong 'Authentication failure'; granted bob right
        settled() { omvault login status ada --profile work --system --json | grep '"charged":1,"failed":1'; }

        """#

    @Test("Ctrl-\\ and Ctrl-Z between charge and settlement stop the program that asks, and not the helper", arguments: [
        (#"\u001c"#, 131), (#"\u001a"#, 148),
    ])
    func keys(key: String, ends status: Int) async throws {
        try await PamTests().inSystem(
            Self.between + #"""
                hold
                press '\#(key)'
                grep 'ended \#(status)' shown
                # A session of its own, and no terminal.
                read -r pid sid tty < session
                [[ $pid == "$sid" && $tty == '?' ]]
                grep -i 1b84007 blocked
                grep 'successfully authenticated' shown
                settled
                """#)
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
                press '\u001c'
                for line in 'cpu time +600 +600' 'file size +1073741824 +1073741824' 'data size +2147483648' \
                    'stack size +8388608' 'open files +256 +256' 'address space +4294967296'; do
                    grep -E "Max $line" limits
                done
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

    @Test("the module's wait for a helper that goes on after its verdict has an end, and the helper is gone then")
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

    @Test("a helper is ended by its descriptor, and never by a number that may be another process's")
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
