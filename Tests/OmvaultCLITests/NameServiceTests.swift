// The error for a server's name that is not found.

import Foundation
import Glibc
import TestSupport
import Testing

@Suite("A server's name that is not found", .enabled(if: geteuid() == 0, "only root can give a script another nsswitch.conf"))
struct NameServiceTests {
    @Test("the error says how to change nsswitch.conf only if its line for hosts has no dns")
    func hint() async throws {
        let ran = try await bash(
            #"""
            set -e
            cat > inside <<'INSIDE'
            set -e
            mount --bind nsswitch.conf /etc/nsswitch.conf
            omvault -q profile set work AuthServerType=HTTPBasicAuthentication LoginURL=https://missing.test/ \
                LogoutURL=https://missing.test/ ConnectTimeOut=30 TotalTimeOut=30
            printf right > right
            hinted() {
                printf "$1" > nsswitch.conf
                refused 50 omvault login check ada --profile work --password-from file:right
                grep -qx 'omvault: error: the server was not reached: its name was not found' .refused
                code=0
                grep -q 'hint: add dns to the line "hosts:" in /etc/nsswitch.conf: ' .refused || code=$?
                [[ $code == $2 ]] || { printf "$1"; cat .refused; exit 96; }
            }
            hinted 'hosts: files resolve\n' 0
            hinted 'passwd: files dns\n  hosts:resolve [!UNAVAIL=return] files # dns\n' 0
            hinted 'hosts: files dns\n' 1
            hinted 'hosts:\tfiles resolve [!UNAVAIL=return] dns\n' 1
            hinted '# hosts: files\npasswd: files\n' 1
            INSIDE
            touch nsswitch.conf
            unshare -mn bash inside
            """#)
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
    }
}
