import TestSupport
import Testing

/// Key verbs with made-up input: ciphertexts, long messages, and the libraries that agree with them.
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

    @Test("each fault in the padding of a PKCS#1 v1.5 ciphertext gives the same error")
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

    @Test("a message too long for Ed25519 in memory is an error, not a crash")
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

    @Test("key agreement, raw ECDSA signatures and sealed boxes agree with OpenSSL, Python and libsodium")
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
}
