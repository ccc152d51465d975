import Foundation
import TestSupport
import Testing

/// `crypto algs` against the verbs: each name is tried where the list says that it is taken, with the status it has.
@Suite struct CryptoAlgsTests {
    /// `names KIND` prints a kind's names; `gated STATUS COMMAND…` runs a command that makes something, and wants 33
    /// without `--insecure` when the status is legacy, a warning when it is that.
    private static let head = """
        set -euo pipefail
        head -c 32 /dev/urandom > key; printf 'a message, 32 bytes long exactly' > data
        names() { omvault crypto algs | awk -F'\\t' -v kind="$1" '$1 == kind { print $2, $3 }'; }
        gated() {
            local status=$1 code=0; shift
            "$@" > out 2> errors || code=$?
            case $status in
            legacy) [[ $code == 33 ]] || { echo "not gated: $*"; exit 1; }; "$@" --insecure > out 2> /dev/null ;;
            warns) [[ $code == 0 ]] && grep -q warning errors || { echo "no warning: $*"; exit 1; } ;;
            *) [[ $code == 0 ]] && ! grep -q warning errors || { echo "$code, or a warning: $*"; exit 1; } ;;
            esac
        }

        """

    private func expectSuccess(_ script: String) async throws {
        let ran = try await bash(Self.head + script)
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
    }

    @Test("every hash, scheme, password function and encoding in the list is accepted by the verbs it names")
    func hashes() async throws {
        try await expectSuccess(
            """
            while read -r name status; do
                gated $status omvault crypto hash --alg $name data
                omvault crypto hmac --alg $name --key-from file:key data > /dev/null
            done < <(names hash)
            while read -r name _; do
                omvault crypto hash --encoding $name --salt-from cmd:'printf 0A0B' data > /dev/null
            done < <(names hash-encoding)
            printf '{SaltedSHA-256}AAAA' > stored
            while read -r name status; do
                # Allowed, the malformed string is looked at (30); 2 would be an unknown scheme.
                omvault crypto check --schemes "$name,SaltedSHA-256" --hash-from file:stored --value-from file:data \
                    2> /dev/null && exit 1 || [[ $? == 30 ]]
            done < <(names scheme)
            while read -r name _; do
                omvault -q crypto password-hash --alg $name --value-from file:data $(case $name in
                    argon2*) echo --memory 64 --passes 1 ;; scrypt) echo --log-n 4 ;; pbkdf2) echo --iterations 1 ;;
                    bcrypt) echo --cost 4 ;; yescrypt) echo --cost 1 ;; *crypt) echo --iterations 1000 ;; esac) > /dev/null
            done < <(names password-hash)
            while read -r name _; do
                omvault -q crypto kdf --alg $name --salt-from file:key --length 16 --value-from file:data \
                    $(case $name in argon2*) echo --memory 64 --passes 1 ;; scrypt) echo --log-n 4 ;;
                        pbkdf2) echo --iterations 1 ;; esac) > /dev/null
            done < <(names kdf)
            while read -r name _; do
                omvault crypto otp-uri --algorithm $name --account a --secret-from cmd:'printf MY======' > /dev/null
            done < <(names otp-hash)
            while read -r name _; do omvault crypto rand --encoding $name > /dev/null; done < <(names encoding)
            """)
    }

    @Test(
        "every cipher in the list encrypts and decrypts, and needs --insecure or warns as the list says",
        arguments: ["container", "aes-128", "aes-192", "aes-256", "x\\?chacha", "3\\?des"])
    func ciphers(family: String) async throws {
        let (kind, raw) = family == "container" ? ("container", "") : ("cipher", "--raw")
        try await expectSuccess(
            """
            while read -r name status; do
                case "\(raw)$name" in *128*) n=16 ;; *192* | --raw3des*) n=24 ;; --rawdes*) n=8 ;; *) n=32 ;; esac
                head -c $n key > part
                gated $status omvault crypto encrypt \(raw) --alg $name --key-from file:part -i data
                omvault -q crypto decrypt \(raw) --alg $name --key-from file:part -i out | cmp - data
            done < <(names \(kind) | grep '^\(family == kind ? "" : family)')
            """)
    }

    @Test("every padding, encoding and derivation in the list is accepted, with --insecure where the list says so")
    func cipherForms() async throws {
        try await expectSuccess(
            """
            while read -r name _; do
                omvault -q crypto encrypt --alg aes-256-cbc --padding $name --key-from file:key -i data > /dev/null
            done < <(names padding)
            while read -r name _; do
                omvault -q crypto encrypt --alg aes-256-cbc --encoding $name --insecure --zero-iv --key-from file:key \
                    -i data > out
            done < <(names cipher-encoding)
            while read -r name status; do
                gated ${status/ok/warns} omvault crypto encrypt --alg aes-256-cbc --openssl $name \
                    --password-from file:data -i data
            done < <(names openssl-enc)
            """)
    }

    /// Key pairs of these types. Unencrypted: the work that protects a key file is other tests' promise.
    private static func pairs(_ types: String...) -> String {
        """
        for type in \(types.joined(separator: " ")); do
            [[ $type == rsa ]] && set -- --bits 2048 || set --
            omvault -q crypto keygen --type $type "$@" --no-password --insecure --out $type.pem --pub $type.pub
        done

        """
    }

    @Test("every key type in the list is made and every form written, with --insecure where the list says so")
    func keys() async throws {
        try await expectSuccess(
            Self.pairs("rsa", "ec-p256", "x25519") + """
                while read -r name status; do
                    case $name in
                    aes | hmac | des | 3des) gated $status omvault crypto keygen --type $name ;;
                    *) gated legacy omvault -q crypto keygen --type $name --no-password ;;
                    esac
                done < <(names key-type)
                while read -r name status; do
                    case $name in pkcs1*) key=rsa ;; age) key=x25519 ;; *) key=ec-p256 ;; esac
                    case $name in
                    pem | der | p12 | openssh | age) set -- --encrypt-from file:data ;;
                    cert)
                        openssl req -new -x509 -key $key.pem -subj /CN=me -out c.pem
                        gated $status omvault crypto convert --in c.pem --to cert; continue ;;
                    sec1*) set -- ;;
                    *) set -- --insecure ;;
                    esac
                    gated $status omvault -q crypto convert --in $key.pem --to $name "$@"
                done < <(names key-form)
                """)
    }

    @Test(
        "every signature in the list is made, those with SHA-256 are verified, and each warns as the list says",
        arguments: ["rsa-pss-", "rsa-pkcs1-", "ecdsa-sha", "ecdsa-p1363-", "ed25519"])
    func signatures(family: String) async throws {
        try await expectSuccess(
            Self.pairs(family.hasPrefix("rsa") ? "rsa" : family.hasPrefix("ecdsa") ? "ec-p256" : "ed25519") + """
                while read -r name status; do
                    case $name in rsa*) key=rsa ;; ecdsa*) key=ec-p256 ;; *) key=ed25519 ;; esac
                    gated $status omvault crypto sign --alg $name --key-from file:$key.pem data
                    case $name in *-sha256 | ed25519)
                        mv out signature
                        omvault -q crypto verify --alg $name --key-from file:$key.pub --signature signature data ;;
                    esac
                done < <(names signature | grep '^\(family)')
                """)
    }

    @Test("every wrapping in the list wraps and unwraps, with --insecure where the list says so")
    func wrappings() async throws {
        try await expectSuccess(
            Self.pairs("rsa", "x25519") + """
                while read -r name status; do
                    case $name in
                    aes*) kek=(key key) ;;
                    rsa*) kek=(rsa.pub rsa.pem) ;;
                    *) kek=(x25519.pub x25519.pem) ;;
                    esac
                    gated $status omvault crypto wrap --alg $name --kek-from file:${kek[0]} --key-from file:key
                    omvault crypto unwrap --alg $name --kek-from file:${kek[1]} --key-from file:out | cmp - key
                done < <(names wrap)
                """)
    }

    @Test("the list in JSON has every row of the plain one, and every verb in it exists")
    func json() async throws {
        let ran = try await bash("omvault crypto algs --json; omvault crypto algs | wc -l >&2")
        let rows = try #require(try Ran.json(ran.output)["algorithms"] as? [[String: Any]])
        #expect(String(rows.count) == ran.errors.trimmingCharacters(in: .whitespacesAndNewlines))
        let verbs = Set(rows.flatMap { $0["verbs"] as? [String] ?? [] })
        #expect(verbs.count > 10)
        for verb in verbs {
            #expect(try await bash("omvault crypto \(verb) --help").status == 0, "there is no verb \(verb)")
        }
    }
}
