import TestSupport
import Testing

/// `crypto encrypt` and `decrypt` of containers, through the real command.
@Suite("crypto encrypt and decrypt") struct CryptoFileTests {
    /// A key of 32 bytes in `k`, a password in `pw`, a message of three chunks in `m`.
    private static let prepare = """
        set -e
        head -c 32 /dev/urandom > k; printf 'correct horse' > pw; head -c 150000 /dev/urandom > m

        """

    @Test("a file comes back from a password, a key and two public keys of openssl's, mode 0600")
    func roundTrips() async throws {
        let ran = try await bash(
            Self.prepare + """
                for who in ada bob; do
                    openssl genpkey -algorithm x25519 -out $who.pem; openssl pkey -in $who.pem -pubout -out $who.pub
                done
                omvault crypto encrypt --password-from file:pw --kdf-mem 8 --kdf-time 1 -i m -o c1
                omvault crypto decrypt --password-from file:pw -i c1 -o m1
                omvault crypto encrypt --alg chacha20-poly1305 --key-from file:k < m > c2
                omvault crypto decrypt --key-from file:k < c2 > m2
                omvault crypto encrypt --recipient ada.pub --recipient bob.pub -i m -o c3
                omvault crypto decrypt --key-from file:ada.pem -i c3 -o m3
                omvault crypto decrypt --key-from file:bob.pem -i c3 -o m4
                hex=$(openssl pkey -pubin -in ada.pub -outform DER | tail -c 32 | od -An -v -tx1 | tr -d ' \\n')
                omvault crypto encrypt --recipient $hex -i m -o c5
                openssl pkey -in ada.pem -outform DER | tail -c 32 > ada.raw
                omvault crypto decrypt --key-from file:ada.raw -i c5 -o m5
                for copy in m1 m2 m3 m4 m5; do cmp m $copy; done
                stat -c %a c1 m1
                """)
        #expect(ran.status == 0, "\(ran.errors)")
        #expect(ran.output == "600\n600\n")
        #expect(ran.errors == "")
    }

    @Test("a wrong password and a wrong key are 20, a changed file 30; nothing is written, and no trace is left")
    func refusals() async throws {
        let ran = try await bash(
            Self.prepare + """
                head -c 32 /dev/urandom > other; printf wrong > wrong; set +e
                omvault crypto encrypt --password-from file:pw --kdf-mem 8 --kdf-time 1 -i m -o c1
                omvault crypto encrypt --key-from file:k -i m -o c2
                head -c 100000 c2 > cut; (cat c2; echo) > longer; head -c 60 c2 > header; : > empty
                other=x; [[ $(head -c 101 c2 | tail -c 1 | od -An -tx1) != ' 78' ]] || other=y
                (head -c 100 c2; printf $other; tail -c +102 c2) > changed
                try() {
                    omvault crypto decrypt "$@" -o out 2> err; echo $?; cat err >&2; ls -A | grep -E '^out|omvault-'
                }
                try --password-from file:wrong -i c1; try --key-from file:other -i c2
                for broken in cut longer header empty changed m; do try --key-from file:k -i $broken; done
                try --password-from file:pw -i c2; try --key-from file:k -i c1
                for broken in cut longer; do omvault crypto decrypt --key-from file:k -i $broken; done | wc -c
                """)
        #expect(ran.output == "20\n20\n30\n30\n30\n30\n30\n30\n2\n2\n0\n", "\(ran.errors)")
    }

    @Test("of a file that was cut it says that nothing was written, or that what was written is not whole")
    func cut() async throws {
        let ran = try await bash(
            Self.prepare + """
                omvault crypto encrypt --key-from file:k -i m -o c; set +e
                head -c 100000 c > cut
                omvault crypto decrypt --key-from file:k -i cut -o out; ls out
                head -c 1500000 /dev/zero > large; omvault crypto encrypt --key-from file:k -i large -o large.omv
                head -c 1300000 large.omv > cut
                test "$(omvault crypto decrypt --key-from file:k -i cut | wc -c)" -gt 65535 && echo some
                head -c 1000 c | omvault crypto decrypt --key-from file:k | wc -c
                """)
        let told = ran.errors.split(separator: "\n").filter { $0.hasPrefix("omvault: error") }
        #expect(ran.output == "some\n0\n")
        #expect(
            told == [
                "omvault: error: the file was changed or cut short; nothing was written",
                "omvault: error: the file was changed or cut short; what was written of it is not whole",
                "omvault: error: the file was changed or cut short; nothing was written",
            ], "\(ran)")
    }

    @Test("an existing file stays unless --force is given, and no device is replaced by a file")
    func existing() async throws {
        let ran = try await bash(
            Self.prepare + """
                set +e; echo old > out
                omvault crypto encrypt --key-from file:k -i m -o out; echo $?; cat out
                omvault crypto encrypt --key-from file:k -i m -o out --force; echo $?; head -c 5 out | tail -c 4
                echo; mkfifo pipe
                omvault crypto encrypt --key-from file:k -i m -o pipe --force; echo $?; test -p pipe && echo pipe
                omvault crypto encrypt --key-from file:k -i out -o out --force; echo $?
                omvault crypto decrypt --key-from file:k -i out | omvault crypto decrypt --key-from file:k | cmp - m
                echo $?
                omvault crypto encrypt --key-from file:k -i m -o no/such/folder; echo $?
                ls -A | grep omvault-
                """)
        #expect(ran.output == "5\nold\n0\nOMVF\n2\npipe\n0\n0\n60\n", "\(ran.errors)")
    }

    @Test("a signal takes the unfinished file away")
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

    @Test("what a killed command left goes with the next one, and a file that is replaced is on the disk before it has the name")
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

    @Test("a file that asks for more work than the cap is refused, and opened when that is allowed")
    func work() async throws {
        let ran = try await bash(
            Self.prepare + """
                set +e; omvault crypto encrypt --password-from file:pw --kdf-mem 274 --kdf-time 15 -i m -o c
                omvault crypto decrypt --password-from file:pw -i c -o out; echo $?; ls out 2> /dev/null
                omvault crypto decrypt --max-work 2 --password-from file:pw -i c -o out; echo $?; cmp out m
                """)
        #expect(ran.output == "13\n0\n")
        #expect(ran.errors.contains("--max-work"))
    }

    @Test("key files of every form, encrypted ones too, open what was sealed to their public halves")
    func keyFiles() async throws {
        let ran = try await bash(
            Self.prepare + """
                printf other > no
                openssl genpkey -algorithm X25519 -out theirs.pem; openssl pkey -in theirs.pem -pubout -out theirs.pub
                openssl pkcs8 -topk8 -in theirs.pem -passout file:pw -out theirs.enc
                omvault -q crypto keygen --type x25519 --encrypt-from file:pw --out mine.pem --pub mine.pub
                omvault -q crypto convert --in mine.pem --key-password-from file:pw --to jwk --insecure -o mine.jwk
                omvault -q crypto pubkey --in mine.jwk --to jwk -o mine.pub.jwk
                omvault crypto encrypt --recipient theirs.pub --recipient mine.pub.jwk -i m -o c
                omvault crypto decrypt --key-from file:theirs.pem -i c | cmp - m
                omvault crypto decrypt --key-from file:theirs.enc --key-password-from file:pw -i c | cmp - m
                omvault crypto decrypt --key-from file:mine.pem --key-password-from file:pw -i c | cmp - m
                omvault crypto decrypt --key-from file:mine.jwk -i c | cmp - m
                omvault crypto encrypt --recipient theirs.pem -i m > c2
                omvault crypto decrypt --key-from file:theirs.pem -i c2 | cmp - m
                set +e
                omvault crypto decrypt --key-from file:mine.pem --key-password-from file:no -i c -o out; echo $?
                omvault crypto decrypt --key-from file:mine.pem --no-input -i c -o out; echo $?
                omvault crypto decrypt --key-from file:mine.pub -i c -o out; echo $?
                openssl genpkey -algorithm ed25519 -out ed.pem
                omvault crypto decrypt --key-from file:ed.pem -i c -o out; echo $?
                omvault crypto encrypt --recipient ed.pem -i c -o out; echo $?
                omvault crypto encrypt --recipient pw -i c -o out; echo $?
                omvault crypto decrypt --recovery-from file:pw --key-from file:theirs.pem -i c -o out; echo $?
                ls out 2> /dev/null
                """)
        #expect(ran.output == "20\n8\n2\n2\n2\n30\n2\n", "\(ran.errors)")
    }

    @Test("keys and pairs in the vault seal and open files; --password-from is then the vault's")
    func vaultKeys() async throws {
        let ran = try await bash(
            Self.prepare + """
                export OMVAULT_PASSWORD_FROM=file:pw
                omvault -q init --no-recovery --kdf-mem 8 --kdf-time 1
                omvault -q crypto keygen --type x25519 --tag box
                omvault -q crypto keygen --type aes --out om://personal/filekey
                omvault crypto encrypt --tag box -i m -o c; omvault crypto decrypt --tag box -i c | cmp - m
                omvault crypto encrypt --recipient om://personal/keypair.box --password-from file:pw -i m -o c --force
                omvault crypto decrypt --key-from om://personal/keypair.box --password-from file:pw -i c | cmp - m
                omvault crypto encrypt --key-from om://personal/filekey -i m -o c --force
                omvault crypto decrypt --key-from om://personal/filekey -i c | cmp - m
                omvault -q crypto encrypt --alg aes-256-ctr --key-from om://personal/filekey/key -i m -o c --force
                omvault -q crypto decrypt --alg aes-256-ctr --key-from om://personal/filekey -i c | cmp - m
                set +e; omvault crypto encrypt --alg aes-256-ctr --tag box -i m -o d; echo $?
                omvault crypto encrypt --key-from om://personal/nothing -i m -o d; echo $?
                ls d 2> /dev/null
                """)
        #expect(ran.output == "2\n10\n", "\(ran.errors)")
    }

    @Test("no crypto verb opens a vault, an agent or the network")
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

    @Test("a person sees how far a long file is, and a script nothing")
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

    @Test(
        "a password that is asked for is asked twice, and a decrypted text is shown at a terminal only when it is text")
    func terminal() async throws {
        let made = try await atTerminal(
            """
            printf 'hello\\n' | omvault crypto encrypt --kdf-mem 8 --kdf-time 1 -o c
            omvault crypto decrypt -i c
            head -c 100 /dev/zero | omvault crypto encrypt --kdf-mem 8 --kdf-time 1 -o z
            omvault crypto decrypt -i z; omvault crypto encrypt -i z
            """,
            [
                ("New password: ", "pw\n"), ("again: ", "pw\n"), ("Password: ", "pw\n"), ("New password: ", "pw\n"),
                ("again: ", "pw\n"), ("Password: ", "pw\n"),
            ])
        #expect(made.output.contains("hello\r\n"))
        #expect(made.output.contains("not printable text"))
        #expect(made.output.contains("standard output is a terminal"))
    }

    @Test("what opens a container says which options mean something; the others are refused before a secret is asked for")
    func idleOptions() async throws {
        let ran = try await bash(
            """
            set -e
            idle() { refused 2 omvault --no-input crypto decrypt -o back "$@"; grep -q -F -e "$option has no effect" .refused; }
            printf 'a password' > pw; head -c 32 /dev/urandom > k; od -An -tx1 k | tr -d ' \\n' > k.hex; printf one > m
            omvault -q crypto encrypt --kdf-mem 8 --kdf-time 1 --password-from file:pw -i m -o p.omvf
            omvault -q crypto encrypt --key-from file:k.hex --key-encoding hex -i m -o k.omvf
            option=--key-encoding; idle --key-encoding hex --password-from file:pw -i p.omvf
            option=--identity; idle --identity one --password-from file:pw -i p.omvf
            for option in --max-work --identity; do idle $option 2 --key-from file:k -i k.omvf; done
            option=--key-password-from; idle --key-password-from file:pw --key-from file:k -i k.omvf
            test ! -e back
            omvault crypto decrypt --max-work 2 --password-from file:pw -i p.omvf | cmp - m
            omvault crypto decrypt --key-from file:k.hex --key-encoding hex -i k.omvf | cmp - m
            refused 2 omvault crypto kdf --alg hkdf --max-work 2 --value-from file:k --length 16
            refused 2 omvault crypto wrap --kek-from file:k --max-work 2 --key-from file:k
            echo done
            """)
        #expect(ran.output == "done\n", "\(ran.output)\(ran.errors)")
    }
}
