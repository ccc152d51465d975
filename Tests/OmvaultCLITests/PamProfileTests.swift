// The PAM profile of the package libpam-omvault, in the common-auth that Debian makes with it.

import Foundation
import Glibc
import Testing

@Suite("The package's PAM profile", .enabled(if: geteuid() == 0, "only root has a system store"))
struct PamProfileTests {
    private static let profile = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: ".packaging/pam-configs/omvault").path

    @Test("with the package's PAM profile Unix passwords let root and users in, whatever of omvault is broken")
    func unixPasswords() async throws {
        try await PamTests().inSystem(
            #"""
            mkdir -p /var/lib/pam .system/configs
            cp -a /usr/share/pam-configs/. .system/configs
            cp -a /var/cache/debconf .system/debconf
            sed "s|pam_omvault.so profile=login|$module profile=work|" '\#(Self.profile)' > .system/configs/omvault
            # The wait after a wrong password would only cost time.
            sed -i 's/pam_unix.so nullok/& nodelay/' .system/configs/unix
            mount --bind .system/configs /usr/share/pam-configs
            mount --bind .system/debconf /var/cache/debconf
            export DEBIAN_FRONTEND=noninteractive PATH="$PATH:/usr/sbin"
            printf '@include common-auth\naccount required pam_permit.so\n' > /etc/pam.d/omvault-test
            printf unix > unix
            echo 'ada:x:4242:4242::/:/bin/sh' >> /etc/passwd
            echo 'ada:*:1::::::' >> /etc/shadow
            for user in ada root; do usermod --password "$(openssl passwd -5 unix)" $user; enroll $user work right; done

            pam-auth-update --package --force
            answers ada right 'Authentication failure'
            granted ada unix
            pam-auth-update --enable omvault --force
            granted ada right
            answers root right 'Authentication failure'

            keeps_unix() { for user in ada root; do granted $user unix; done; }
            keeps_unix
            serve web nginx
            web /login
            granted alice horse
            tell stop
            granted alice horse
            keeps_unix
            for file in /var/lib/omvault/logins.db*; do head -c 8192 /dev/urandom > "$file"; done
            answers alice horse 'Authentication failure'
            keeps_unix
            rm /usr/libexec/omvault/omvault-agent
            keeps_unix
            rm /usr/libexec/omvault/omvault-pam-helper
            keeps_unix
            sed -i "s|$module|/no/pam_omvault.so|" /etc/pam.d/common-auth
            keeps_unix
            """#)
    }
}
