// Logins at a server on this machine. The page server-answers.md has the addresses that are refused.

import Foundation
import TestSupport
import Testing

@Suite struct LocalAddressTests {
    @Test(
        "http to localhost goes to this machine's loopback, and the resolver is not asked for the name",
        .enabled(if: geteuid() == 0, "needs a mount namespace of its own"))
    func pinned() async throws {
        let lines = try await Serving.lines(
            """
            serve odd odd
            basic "http://localhost:$http/login"
            printf '127.0.0.9 localhost a.localhost\\n' > hosts
            cat > inside <<'EOF'
            mount --bind hosts /etc/hosts
            getent ahosts localhost | grep -q '^127.0.0.9 ' && getent ahosts a.localhost > /dev/null
            omvault login check alice --kdf-mem 8 --kdf-time 1 --password-from file:right | cut -d ' ' -f 1,2
            EOF
            unshare -m bash -e inside
            omvault -q profile set work "LoginURL=http://a.localhost:$http/login"
            refused 9 omvault login check alice --password-from file:right
            grep denied .refused
            """)
        #expect(lines == ["granted online", "denied reason=unsafe_address"])
    }
}
