import TestSupport
import Testing

/// What the key verbs refuse, with which exit code and in which words.
@Suite struct CryptoKeyRefusalTests {
    private func expectDone(_ script: String) async throws {
        let ran = try await bash(
            """
            set -e
            make() { omvault -q crypto keygen --type "$1" --out "$2.pem" --pub "$2.pub" --no-password --insecure; }
            says() { grep -q -F -e "$1" .refused || { echo "not said: $1"; cat .refused; exit 98; }; }

            """ + script + "\necho done")
        #expect(ran.output.hasSuffix("done\n"), "\(ran.output)\n\(ran.errors)")
    }

    @Test("whatever is wrong with the padding of a PKCS#1 v1.5 ciphertext is told in the same words")
    func padding() async throws {
        try await expectDone(
            """
            make rsa r
            python3 - <<'END'
            key, fill = b"k" * 32, b"\\7"
            good = b"\\0\\2" + fill * (384 - 35) + b"\\0" + key
            blocks = {
                "second": b"\\0\\1" + good[2:], "none": good[:2] + b"\\0" + good[3:], "short": good[:9] + b"\\0" + good[10:],
                "endless": good.replace(b"\\7\\0k", b"\\7\\7k"), "empty": bytes(383) + b"\\1",
            }
            for name, block in blocks.items(): open(name + ".block", "wb").write(block)
            open("good", "wb").write(good)
            END
            raw() { openssl pkeyutl -encrypt -pubin -inkey r.pub -pkeyopt rsa_padding_mode:none -in "$1" -out w; }
            raw good; omvault crypto unwrap --alg rsa-pkcs1 --kek-from file:r.pem --key-from file:w | grep -q '^k*$'
            for block in *.block; do
                raw $block
                refused 30 omvault crypto unwrap --alg rsa-pkcs1 --kek-from file:r.pem --key-from file:w
                cat .refused >> all
            done
            [[ $(grep -c error: all) == 5 && $(grep error: all | sort -u | wc -l) == 1 ]] || { cat all; exit 1; }
            """)
    }

    @Test("weak RSA keys and MD5 sign and wrap only with --insecure; what was made with them is read")
    func gates() async throws {
        try await expectDone(
            """
            printf 'a secret' > k
            for bits in 512 1024; do
                openssl genrsa -out r$bits.pem $bits 2> /dev/null
                openssl pkey -in r$bits.pem -pubout -out r$bits.pub
            done
            refused 33 omvault crypto wrap --alg rsa-oaep-sha1 --kek-from file:r512.pem --key-from file:k
            refused 33 omvault crypto wrap --alg rsa-oaep-sha256 --kek-from file:r1024.pub --key-from file:k
            omvault -q crypto wrap --alg rsa-oaep-sha256 --kek-from file:r1024.pub --key-from file:k --insecure -o w
            omvault crypto unwrap --alg rsa-oaep-sha256 --kek-from file:r1024.pem --key-from file:w | cmp - k
            refused 33 omvault crypto sign --key-from file:r1024.pem k
            refused 33 omvault crypto sign --key-from file:r1024.pem --alg rsa-pkcs1-sha256 k
            omvault -q crypto sign --key-from file:r1024.pem --insecure k > s
            omvault -q crypto verify --key-from file:r1024.pub --signature s k
            openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out r.pem 2> /dev/null
            for arguments in '--alg rsa-oaep-md5' '--alg rsa-oaep-sha256 --mgf md5'; do
                refused 33 omvault crypto wrap $arguments --kek-from file:r.pem --key-from file:k
                omvault -q crypto wrap $arguments --kek-from file:r.pem --key-from file:k --insecure -o w --force
                omvault crypto unwrap $arguments --kek-from file:r.pem --key-from file:w | cmp - k
            done
            refused 33 omvault crypto sign --key-from file:r.pem --mgf md5 k
            omvault -q crypto sign --key-from file:r.pem --mgf md5 --insecure k > s
            omvault -q crypto verify --key-from file:r.pem --mgf md5 --signature s k
            for arguments in '--alg rsa-oaep-sha1' '--alg rsa-oaep-sha256 --mgf sha1'; do
                omvault crypto wrap $arguments --kek-from file:r.pem --key-from file:k -o w --force 2>&1 | grep -q warning
            done
            omvault crypto sign --key-from file:r.pem --mgf sha1 k 2>&1 > s | grep -q warning
            """)
    }

    @Test("options of wrap that would mean nothing are refused, and names are taken in any case")
    func wrapOptions() async throws {
        try await expectDone(
            """
            make rsa r; make x25519 x; head -c 32 /dev/zero > kek; printf 'a secret' > k; : > none
            wrap() { omvault -q crypto wrap --key-from file:k "$@"; }
            for option in '--label here' '--mgf sha256'; do
                refused 2 wrap --kek-from file:kek $option
                refused 2 wrap --alg x25519 --kek-from file:x.pub $option
                refused 2 wrap --alg rsa-pkcs1 --insecure --kek-from file:r.pub $option
                refused 2 omvault crypto unwrap --kek-from file:kek --key-from file:k $option
            done
            refused 2 wrap --alg rsa-oaep-sha256 --kek-from file:r.pub --kek-encoding hex
            refused 2 wrap --kek-from file:kek --kek-password-from file:k
            wrap --alg RSA-OAEP-SHA256 --kek-from file:r.pub -o w
            omvault crypto unwrap --alg rsa-oaep-sha256 --kek-from file:r.pem --key-from file:w | cmp - k
            wrap --alg X25519 --kek-from file:x.pub -o w2
            omvault -q crypto sign --alg RSA-PSS-SHA256 --key-from file:r.pem k > s
            refused 2 wrap --kek-from file:r.pub; says rsa-oaep-sha256
            refused 2 wrap --kek-from file:x.pub; says '--alg x25519'
            for alg in aes-kw aes-kwp; do
                refused 2 omvault crypto wrap --alg $alg --kek-from file:kek --key-from file:none; says empty
            done
            """)
    }

    @Test("what a file is, and which file, is said where it is not what was asked for")
    func words() async throws {
        try await expectDone(
            """
            make x25519 x; make ec-p256 e; make ed25519 d; printf one > pw
            openssl req -new -x509 -key e.pem -subj /CN=me -out c.pem
            openssl x509 -in c.pem -outform der -out c.der
            for file in c.pem c.der; do
                refused 2 omvault crypto pubkey --in $file; says 'a certificate, not a key'
                refused 2 omvault crypto agree --key-from file:x.pem --peer $file; says '"'$file'"'
            done
            cat x.pem e.pem > two.pem; cat x.pem x.pub > both.pem
            for file in two.pem both.pem; do refused 11 omvault crypto pubkey --in $file; says 'more than one key'; done
            refused 30 omvault crypto agree --key-from file:x.pem --peer pw; says '"pw"'
            omvault -q crypto convert --in x.pem --encrypt-from file:pw -o locked.pem
            refused 2 omvault crypto agree --key-from file:x.pem --peer locked.pem; says 'crypto pubkey'
            refused 2 omvault crypto keygen --type rsa --bits 2049 --out t --encrypt-from file:pw; says 'multiple of 8'
            refused 2 omvault crypto sign --alg rsa-pss-sha257 --key-from file:e.pem pw; says 'crypto algs'
            refused 4 omvault crypto convert --in d.pem --to openssh; says Ed25519
            head -c 1100000 /dev/zero > long
            refused 2 omvault crypto pubkey --in long; says '1 MiB'
            """)
    }

    @Test("a long message to Ed25519 ends in words and never in a signal")
    func longMessage() async throws {
        try await expectDone(
            """
            make ed25519 k
            truncate -s 300M big
            omvault -q crypto sign --key-from file:k.pem --signature s big
            openssl pkeyutl -verify -rawin -pubin -inkey k.pub -in big -sigfile s > /dev/null
            small() { (ulimit -v 250000; omvault crypto "$@"); }
            refused 1 small sign --key-from file:k.pem big; says memory
            refused 1 small verify --key-from file:k.pub --signature s big; says memory
            """)
    }

    @Test("agreement, r ‖ s and sealed boxes are those of OpenSSL, Python and libsodium")
    func interoperation() async throws {
        try await expectDone(
            """
            printf 'a message' > m
            for type in x25519 ec-p256 ec-p384 ec-p521; do
                make $type mine; make $type theirs
                openssl pkeyutl -derive -inkey theirs.pem -peerkey mine.pub -out shared
                omvault crypto agree --key-from file:mine.pem --peer theirs.pub --bare --encoding raw | cmp - shared
                rm mine.* theirs.*
            done
            make x25519 x
            omvault -q crypto wrap --alg x25519 --kek-from file:x.pub --key-from file:m -o ours
            omvault crypto pubkey --in x.pem --to raw -o x.half
            omvault crypto convert --in x.pem --to raw --insecure -o x.raw
            cat > box.py <<'END'
            import ctypes, ctypes.util
            sodium = ctypes.CDLL(ctypes.util.find_library('sodium') or 'libsodium.so.23')
            sodium.sodium_init()
            half, secret = open('x.half', 'rb').read(), open('x.raw', 'rb').read()
            box, size = open('ours', 'rb').read(), ctypes.c_ulonglong
            out = ctypes.create_string_buffer(len(box) - 48)
            assert sodium.crypto_box_seal_open(out, box, size(len(box)), half, secret) == 0
            assert out.raw == b'a message', out.raw
            sealed = ctypes.create_string_buffer(9 + 48)
            assert sodium.crypto_box_seal(sealed, b'a message', size(9), half) == 0
            open('theirs', 'wb').write(sealed.raw)
            END
            python3 box.py
            omvault crypto unwrap --alg x25519 --kek-from file:x.pem --key-from file:theirs | cmp - m
            cat > fixed.py <<'END'
            # r and s, each of the curve's length, as DER: SEQUENCE of two INTEGERs.
            import sys
            raw = sys.stdin.buffer.read()
            def number(b):
                b = b.lstrip(b'\\0') or b'\\0'
                b = b'\\0' + b if b[0] > 127 else b
                return b'\\x02' + bytes([len(b)]) + b
            half = len(raw) // 2
            body = number(raw[:half]) + number(raw[half:])
            head = b'\\x30' + (bytes([len(body)]) if len(body) < 128 else b'\\x81' + bytes([len(body)]))
            sys.stdout.buffer.write(head + body)
            END
            for pair in ec-p256:64 ec-p384:96 ec-p521:132; do
                make ${pair%:*} e
                omvault -q crypto sign --alg ecdsa-p1363-sha256 --key-from file:e.pem --signature s m
                test "$(stat -c %s s)" = ${pair#*:}
                python3 fixed.py < s > s.der
                openssl dgst -sha256 -verify e.pub -signature s.der m > /dev/null
                omvault -q crypto verify --alg ecdsa-p1363-sha256 --key-from file:e.pub --signature s m
                rm e.* s
            done
            """)
    }

    @Test("a JWK that says what it is for is not taken for anything else")
    func jwkUse() async throws {
        try await expectDone(
            """
            make ec-p256 e; make x25519 x; printf 'a message' > m; head -c 32 /dev/zero > k
            omvault crypto convert --in e.pem --to jwk --insecure -o e.jwk
            omvault crypto pubkey --in x.pem --to jwk -o x.jwk
            mark() { sed "s|}|,$2}|" "$1.jwk" > "$3.jwk"; }
            mark e '"use":"enc"' enc; mark e '"key_ops":["sign"]' sign; mark e '"key_ops":["sign","sign"]' twice
            mark x '"use":"sig"' sig
            refused 2 omvault crypto sign --key-from file:enc.jwk m; says key_ops
            refused 30 omvault crypto sign --key-from file:twice.jwk m
            omvault -q crypto sign --key-from file:sign.jwk m > s
            refused 2 omvault crypto verify --key-from file:enc.jwk --signature s m; says key_ops
            omvault -q crypto verify --key-from file:sign.jwk --signature s m
            refused 2 omvault crypto agree --key-from file:x.pem --peer sig.jwk; says key_ops
            refused 2 omvault crypto encrypt --recipient sig.jwk -i m -o c; says key_ops
            refused 2 omvault crypto wrap --alg x25519 --kek-from file:sig.jwk --key-from file:k; says key_ops
            test ! -e c
            """)
    }
}
