import TestSupport
import Testing

/// Every bare cipher against openssl and Python. The transcript bare-ciphers.md shows the rest.
@Suite("crypto encrypt and decrypt, bare") struct CryptoBareCipherTests {
    private static let prepare = """
        set -e
        head -c 100003 /dev/urandom > m; printf 'correct horse' > pw
        for n in 8 16 24 32; do head -c $n /dev/urandom > k$n; done
        legacy='-provider legacy -provider default'
        key() { case $1 in aes-128*) echo k16;; aes-256*) echo k32;; des*) echo k8;; *) echo k24;; esac; }
        theirs() { case $1 in 3des-ecb) echo des-ede3;; 3des-*) echo des-ede3-${1#3des-};; *) echo $1;; esac; }
        hex() { od -An -v -tx1 $1 | tr -d ' \\n'; }

        """
    private static let all = """
        aes-128-cbc aes-192-cbc aes-256-cbc aes-128-ctr aes-192-ctr aes-256-ctr aes-128-ecb aes-192-ecb aes-256-ecb \
        des-cbc des-ecb 3des-cbc 3des-ecb
        """

    @Test("openssl enc -K -iv and omvault write the same bytes, and decrypt each other's files")
    func keys() async throws {
        let ran = try await bash(
            Self.prepare + """
                head -c 16 /dev/urandom > iv16; head -c 8 /dev/urandom > iv8
                for alg in \(Self.all); do
                    k=$(key $alg); iv=iv16; case $alg in *des*) iv=iv8;; esac
                    ours="--iv-from file:$iv"; their="-iv $(hex $iv)"; case $alg in *ecb) ours=; their=;; esac
                    omvault -q crypto encrypt --insecure --alg $alg --key-from file:$k $ours -i m -o a
                    openssl enc -$(theirs $alg) $legacy -K $(hex $k) $their -in m -out b
                    cmp a b; omvault -q crypto decrypt --alg $alg --key-from file:$k $ours -i b | cmp - m; rm a
                    [[ $ours ]] || continue
                    omvault -q crypto encrypt --insecure --alg $alg --key-from file:$k -i m -o a
                    head -c $(stat -c %s $iv) a > used; tail -c +$(( $(stat -c %s $iv) + 1 )) a > body
                    openssl enc -d -$(theirs $alg) $legacy -K $(hex $k) -iv $(hex used) -in body | cmp - m
                    omvault -q crypto decrypt --alg $alg --key-from file:$k -i a | cmp - m; rm a
                done
                """)
        #expect(ran.status == 0, "\(ran.output) \(ran.errors)")
    }

    @Test("openssl enc and omvault decrypt each other's files under a password, with PBKDF2 and with openssl's own derivation")
    func passwords() async throws {
        let ran = try await bash(
            Self.prepare
                + """
                for alg in \(Self.all); do
                    while read -r their ours; do
                        openssl enc -$(theirs $alg) $legacy ${their//_/ } -pass file:pw -in m -out a 2>/dev/null
                        omvault -q crypto decrypt --alg $alg $ours --password-from file:pw -i a | cmp - m
                        omvault -q crypto encrypt --insecure --alg $alg $ours --password-from file:pw -i m -o b
                        openssl enc -d -$(theirs $alg) $legacy ${their//_/ } -pass file:pw -in b 2>/dev/null | cmp - m
                        rm b
                    done << 'FORMS'
                -pbkdf2 --openssl pbkdf2
                -pbkdf2_-iter_777_-md_sha512 --openssl pbkdf2 --openssl-iterations 777 --openssl-hash sha512
                -md_sha256 --openssl legacy
                -md_md5 --openssl legacy --openssl-hash md5
                FORMS
                done
                """.replacing("\n                -", with: "\n-").replacing("\n                FORMS", with: "\nFORMS"))
        #expect(ran.status == 0, "\(ran.output) \(ran.errors)")
    }

    @Test("Python's cryptography and omvault read each other's AES-GCM, ChaCha20-Poly1305 and wrapped keys")
    func python() async throws {
        let ran = try await bash(
            Self.prepare
                + """
                printf context > aad
                cat > theirs.py << 'END'
                import sys
                from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
                from cryptography.hazmat.primitives import keywrap
                what, way, key, source, target = sys.argv[1:]
                key, data = open(key, "rb").read(), open(source, "rb").read()
                if what in ("kw", "kwp"):
                    padded = what == "kwp"
                    wrap = keywrap.aes_key_wrap_with_padding if padded else keywrap.aes_key_wrap
                    unwrap = keywrap.aes_key_unwrap_with_padding if padded else keywrap.aes_key_unwrap
                    out = (wrap if way == "to" else unwrap)(key, data)
                else:
                    box, nonce = (AESGCM if what == "gcm" else ChaCha20Poly1305)(key), bytes(range(12))
                    if way == "to": out = nonce + box.encrypt(nonce, data, b"context")
                    else: out = box.decrypt(data[:12], data[12:], b"context")
                open(target, "wb").write(out)
                END
                check() {
                    python3 -W ignore theirs.py $1 to $3 m theirs
                    python3 -W ignore theirs.py $1 from $3 ours back; cmp m back
                    omvault crypto decrypt --raw --alg $2 --key-from file:$3 --aad-from file:aad -i theirs | cmp - m
                }
                while read -r name alg k; do
                    omvault crypto encrypt --raw --alg $alg --key-from file:$k --aad-from file:aad -i m -o ours --force
                    check $name $alg $k
                done << 'END'
                gcm aes-128-gcm k16
                gcm aes-192-gcm k24
                gcm aes-256-gcm k32
                chacha chacha20-poly1305 k32
                END
                for k in k16 k24 k32; do for name in kw kwp; do
                    key=k24; [[ $name = kw ]] || { head -c 21 m > key21; key=key21; }
                    omvault crypto wrap --alg aes-$name --kek-from file:$k --key-from file:$key -o ours --force
                    python3 -W ignore theirs.py $name from $k ours back; cmp back $key
                    python3 -W ignore theirs.py $name to $k $key theirs; cmp ours theirs
                    omvault crypto unwrap --alg aes-$name --kek-from file:$k --key-from file:theirs | cmp - $key
                    refused 30 omvault crypto unwrap --alg aes-$name --kek-from file:k24 --key-from file:k8
                done; done; true
                """.replacing("\n                ", with: "\n"))
        #expect(ran.status == 0, "\(ran.output) \(ran.errors)")
    }
}
