import TestSupport
import Testing

/// `crypto encrypt` and `decrypt` when they are killed, traced or slow. The transcript file-encryption.md shows the rest.
@Suite("crypto encrypt and decrypt") struct CryptoFileTests {
    /// A key of 32 bytes in `k`, a password in `pw`, a message of three chunks in `m`.
    private static let prepare = """
        set -e
        head -c 32 /dev/urandom > k; printf 'correct horse' > pw; head -c 150000 /dev/urandom > m

        """

    @Test("a signal removes the unfinished file")
    func signal() async throws {
        let ran = try await bash(
            Self.prepare
                + """
                cat > signals.py << 'END'
                # As a shell at a terminal starts it: no signal held back or ignored, whatever the test runner does.
                import os, signal, subprocess, time
                def ready():
                    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(number, signal.SIG_DFL)
                    signal.pthread_sigmask(signal.SIG_SETMASK, [])
                for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                    job = subprocess.Popen(
                        ["omvault", "crypto", "encrypt", "--key-from", "file:k", "-o", "out"],
                        stdin=subprocess.PIPE, preexec_fn=ready)
                    job.stdin.write(open("m", "rb").read() * 10)
                    job.stdin.flush()
                    while not any(name.startswith(".omvault-") for name in os.listdir()): time.sleep(0.01)
                    job.send_signal(number)
                    print(job.wait() + number, [name for name in os.listdir() if "omvault-" in name or name == "out"])
                END
                python3 signals.py
                """.replacing("\n                ", with: "\n"))
        #expect(ran.output == "0 []\n0 []\n0 []\n", "\(ran.errors)")
    }

    @Test("the next command removes the draft of a killed one, and a new file is on the disk before it gets its name")
    func killed() async throws {
        let ran = try await bash(
            Self.prepare + """
                mkfifo pipe; omvault crypto encrypt --key-from file:k -o out < pipe & exec 3> pipe; cat m >&3
                writer=$!; while_runs $writer eval 'test -n "$(find . -name ".omvault-*")"'
                kill -KILL $writer; wait $writer || true; exec 3>&-
                touch -d '2 minutes ago' .omvault-*
                omvault crypto encrypt --key-from file:k -i m -o out; find . -name '.omvault-*'
                strace -f -qq -o trace -e trace=fdatasync,rename omvault crypto encrypt --key-from file:k -i m -o out --force
                grep -o '\\(fdatasync\\|rename\\)(' trace
                """)
        #expect(ran.status == 0, "\(ran.errors)")
        #expect(ran.output == "fdatasync(\nrename(\n")
    }

    @Test("encrypt, decrypt, wrap and unwrap open no vault, no agent and no network")
    func strace() async throws {
        let ran = try await bash(
            Self.prepare + """
                trace() { strace -f -qq -o log -e trace=%network,open,openat omvault -q crypto "$@"; cat log >> all; }
                trace encrypt --password-from file:pw --kdf-mem 8 --kdf-time 1 -i m -o c1
                trace decrypt --password-from file:pw -i c1 -o m1
                trace encrypt --key-from file:k -i m -o c2; trace decrypt --key-from file:k -i c2 -o m2
                trace encrypt --alg aes-256-cbc --key-from file:k -i m -o c3
                trace decrypt --alg aes-256-cbc --key-from file:k -i c3 -o m3
                trace wrap --kek-from file:k --key-from file:pw -o w
                trace unwrap --kek-from file:k --key-from file:w -o u
                cmp m m1; cmp m m2; cmp m m3; cmp pw u
                grep -c 'openat(.*"k"' all
                ! grep -E 'socket|connect|bind|\\.omv"|agent|/\\.local|/\\.config' all
                """)
        #expect(ran.status == 0, "\(ran.output) \(ran.errors)")
        #expect(ran.output == "6\n")
    }

    @Test("progress of a long file is shown at a terminal, and not in a script or with -q")
    func progress() async throws {
        let slow = """
            head -c 32 /dev/urandom > k
            feed() { head -c 3000000 /dev/zero; sleep 1; head -c 3000000 /dev/zero; }
            feed | omvault crypto encrypt --key-from file:k -o c
            """
        let shown = try await atTerminal(slow)
        #expect(shown.output.contains(" MiB"), "\(shown.output)")
        #expect(try await bash(slow).errors == "")
        #expect(try await atTerminal(slow.replacing("encrypt", with: "encrypt -q")).output.contains("MiB") == false)
    }
}
