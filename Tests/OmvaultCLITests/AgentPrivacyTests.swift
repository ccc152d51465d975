// What another process can take of an agent that holds keys: no core file, no trace, no memory.

import Foundation
import Glibc
import TestSupport
import Testing

@Suite("The agent's process", .enabled(if: geteuid() == 0, "only root can be two users")) struct AgentPrivacyTests {
    @Test(
        "the limit or the mark against dumps is enough to prevent a core file", arguments: ["ABRT", "QUIT", "SEGV"])
    func cores(signal: String) async throws {
        let ran = try await bash(
            AgentTests.start + """
                mkdir dying run/omvault
                ulimit -c unlimited
                # The thread that runs this test holds signals back, and what is started under it would too.
                cat > unblock.py <<'PY'
                import os, signal, sys
                signal.pthread_sigmask(signal.SIG_SETMASK, [])
                os.execvp(sys.argv[1], sys.argv[1:])
                PY
                # die OPTIONS…: an agent that thinks these calls were made, a signal, and whether a core file is left.
                die() {
                    (cd dying; exec python3 "$HOME/unblock.py" strace -f -qq -o calls "$@" \
                        omvault-agent --no-memfd-secret --socket "$HOME/run/omvault/agent.sock") & tracer=$!
                    answers() { omvault -q agent status > /dev/null 2>&1; }; while_runs $tracer answers
                    unlock
                    kill -\(signal) "$(pid)"
                    wait $tracer 2> /dev/null || true
                    rm -f run/omvault/agent.sock
                    # The kernel's own word, wherever it puts such files.
                    grep -q 'killed by SIG\(signal) (core dumped)' dying/calls && echo core || echo none
                    grep -q 'killed by SIG\(signal)' dying/calls
                    rm -f dying/core*
                }
                # Which of its calls it is that says so.
                nth() { grep -E "^[0-9]+ +$1\\(" dying/calls | grep -n "$2" | head -n 1 | cut -d : -f 1; }
                die -e trace=prlimit64,prctl
                limit=prlimit64:retval=0:when=$(nth prlimit64 'RLIMIT_CORE, {rlim_cur=0')
                mark=prctl:retval=0:when=$(nth prctl PR_SET_DUMPABLE)
                die -e trace=prlimit64,prctl -e inject=$limit
                die -e trace=prlimit64,prctl -e inject=$mark
                # With neither, one is left: so the others could have been.
                die -e trace=prlimit64,prctl -e inject=$limit -e inject=$mark
                """)
        let pattern = try String(contentsOfFile: "/proc/sys/kernel/core_pattern", encoding: .utf8)
        // Where it hands them to a program, or to a folder that may not be there, there may be none of anybody.
        let controls = pattern.hasPrefix("|") || pattern.hasPrefix("/") ? ["core", "none"] : ["core"]
        #expect(controls.contains { ran.output == "none\nnone\nnone\n\($0)\n" }, "\(ran)")
    }

    @Test("a process of the same user cannot trace the agent, read it, or choose the content of its core file")
    func sameUser() async throws {
        let ran = try await bash(
            AgentTests.start + """
                cat > same.py <<'PY'
                import ctypes, os, signal, sys, time
                libc = ctypes.CDLL(None, use_errno=True)
                class Vector(ctypes.Structure): _fields_ = [('base', ctypes.c_void_p), ('count', ctypes.c_size_t)]
                def tried(call, *words):
                    return 'done' if call(*words) >= 0 else f'errno {ctypes.get_errno()}'
                def look(pid):
                    for name, mode in ('mem', os.O_RDONLY), ('maps', os.O_RDONLY), ('environ', os.O_RDONLY), ('coredump_filter', os.O_WRONLY):
                        try: os.close(os.open(f'/proc/{pid}/{name}', mode)); print(name, 'opened')
                        except PermissionError: print(name, 'refused')
                    here = ctypes.create_string_buffer(8)
                    ours, theirs = Vector(ctypes.addressof(here), 8), Vector(ctypes.addressof(here), 8)
                    read = tried(libc.process_vm_readv, pid, ctypes.byref(ours), 1, ctypes.byref(theirs), 1, 0)
                    # An ordinary process has nothing at that address, and would be asked all the same.
                    print('read', 'refused' if read == 'errno 1' else 'allowed')
                    print('trace', tried(libc.ptrace, 16, pid, 0, 0))
                look(int(sys.argv[1]))
                child = os.fork()
                if child == 0: os.execvp('sleep', ['sleep', '60'])
                while open(f'/proc/{child}/comm').read() != 'sleep\\n': time.sleep(0.01)
                look(child)
                os.kill(child, signal.SIGKILL)
                PY
                theirs=$(mktemp -d); chmod 755 "$theirs"; mkdir "$theirs/run"
                cp "$(command -v omvault-agent)" same.py "$theirs"; chmod 755 "$theirs"/*; chmod 700 "$theirs/run"
                chown nobody "$theirs/run"
                as_nobody() { exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
                as_nobody "$theirs/omvault-agent" --socket "$theirs/run/s" & agent=$!
                while_runs $agent test -S "$theirs/run/s"
                # Not dumpable, so what the kernel shows of it is root's.
                stat -c %U "/proc/$agent/mem"
                (as_nobody python3 "$theirs/same.py" $agent)
                # An attached tracer would leave it stopped.
                kill -CONT $agent; kill $agent; wait $agent || true
                rm -r "$theirs"
                """)
        #expect(
            ran.output == """
                root
                mem refused
                maps refused
                environ refused
                coredump_filter refused
                read refused
                trace errno 1
                mem opened
                maps opened
                environ opened
                coredump_filter opened
                read allowed
                trace done

                """, "\(ran)")
    }
}
