// The SDK's numbers where the command refuses before the library is asked.

import TestSupport
import Testing

@Suite("The SDK's numbers in the command's errors") struct SDKNumberCommandTests {
    @Test("each error that the SDK numbers has number and domain in JSON, and a line of its own without")
    func numbers() async throws {
        let ran = try await bash(
            """
            set -e
            printf 'vault password' > pw; head -c 16 /dev/urandom > k16; head -c 15 k16 > k15; : > none; printf text > pt
            export OMVAULT_PASSWORD_FROM=file:pw
            omvault -q init --no-recovery --kdf-mem 8 --kdf-time 1
            number() {
                refused "$@" --json; grep -o '"sdk_code":.*' .refused
                refused "$@"; grep -c "^omvault: sdk: ORAIDMMOBILE-$(cat last)$" .refused
            }
            expect() { echo "$1" > last; shift; number "$@"; }
            raw='omvault crypto encrypt --raw -i pt'
            expect 10507 2 $raw --alg aes-128-cbc --key-from file:k15
            expect 10507 2 $raw --alg aes-128-gcm --key-from file:k15
            expect 10501 2 $raw --alg aes-128-cbc --key-from file:none
            expect 10508 2 $raw --alg aes-128-cbc --key-from file:k16 --iv-from file:k15
            expect 10506 2 $raw --alg foo --key-from file:k16
            expect 10529 2 omvault crypto keygen --type foo --tag t
            omvault -q crypto keygen --type ed25519 --tag t
            expect 10528 5 omvault crypto keygen --type ed25519 --tag t
            expect 10523 10 omvault crypto keyrm --tag nope --yes
            unset OMVAULT_PASSWORD_FROM
            open='--vault-password-from file:pw'
            expect 10523 10 omvault credential get nope $open
            expect 10523 10 omvault credential get nope --field password $open
            expect 10523 10 omvault credential rm --property-key nope $open
            expect 10501 2 omvault credential get '' $open
            omvault -q profile set p OfflineAuthAllowed=true
            expect 10408 24 omvault login check ada --password-from file:pw
            # The SDK has no number for a file that is not there.
            refused 60 omvault crypto hash nope; grep -c sdk .refused || true
            """)
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
        let numbers = [10507, 10507, 10501, 10508, 10506, 10529, 10528, 10523, 10523, 10523, 10523, 10501, 10408]
        let expected: [String] = numbers.flatMap { [#""sdk_code":\#($0),"sdk_domain":"ORAIDMMOBILE"}}"#, "1"] } + ["0"]
        let lines: [String] = ran.output.split(separator: "\n").map(String.init)
        #expect(lines == expected, "\(ran.errors)")
    }
}
