// Files of profiles, and the administrator's policy. The pages profiles.md and configuration-urls.md have the commands.

import Foundation
import TestSupport
import Testing

@Suite struct ProfileCommandTests {
    @Test("a refused file is closed once, so no file of another thread is closed")
    func closedOnce() async throws {
        let ran = try await bash(
            """
            omvault -q profile set work OfflineAuthAllowed=true
            chmod 640 .config/omvault/profiles/work.json
            strace -f -qq -o trace -e trace=close omvault profile show work 2> /dev/null; echo "$?"
            grep -c 'close(.*= 0' trace > /dev/null && ! grep EBADF trace
            """)
        #expect(ran.status == 0 && ran.output == "14\n", "\(ran)")
    }

    @Test(
        "the administrator's policy limits a profile and its logins, and a policy that others can write refuses them",
        .enabled(if: geteuid() == 0, "needs a mount namespace of its own"))
    func ceiling() async throws {
        let ran = try await bash(
            """
            set -eu
            omvault -q profile set p OfflineAuthAllowed=true MaxLoginAttempts=9
            printf right > pw
            cat > inside <<'EOF'
            set -eu
            mount -t tmpfs none /etc
            mkdir /etc/omvault
            printf '{"MaxLoginAttempts": 4}' > /etc/omvault/policy.json
            omvault profile show p 2>&1 | grep MaxLogin | tr '\\t' ' '
            omvault login enroll ada --profile p --password-from file:pw --kdf-mem 8 --kdf-time 1 2>&1
            printf '{"OfflineAuthAllowed": false}' > /etc/omvault/policy.json
            omvault login check ada --profile p --password-from file:pw 2>&1 || echo "exit $?"
            printf '{"OfflineAuthAllowed": fals}' > /etc/omvault/policy.json
            omvault login check ada --profile p --password-from file:pw 2>/dev/null || echo "exit $?"
            printf '{}' > /etc/omvault/policy.json
            chmod 666 /etc/omvault/policy.json
            omvault login check ada --profile p --password-from file:pw 2>/dev/null || echo "exit $?"
            chmod 644 /etc/omvault/policy.json
            omvault login check ada --profile p --password-from file:pw | cut -d= -f1
            EOF
            unshare -m bash inside
            """)
        #expect(ran.errors == "")
        #expect(
            ran.output == """
                MaxLoginAttempts 4 ceiling acts
                omvault: MaxLoginAttempts is limited by /etc/omvault/policy.json
                omvault: enrolled ada under profile "p": after 4 wrong passwords in a row, the next wrong one locks the login
                denied reason=offline_not_allowed
                omvault: error: the administrator of this machine does not allow offline logins
                omvault: hint: if the profile has a server, log in online: --mode online
                exit 13
                exit 9
                exit 14
                granted offline user

                """)
    }
}
