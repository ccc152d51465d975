// The machine's accounts: whether a user name may be root's.

internal import Glibc

enum Account {
    private static let mostRoom = 1 << 20

    /// Whether the account of this name has uid 0. Also true if the lookup fails.
    static func mayBeRoot(_ name: String) -> Bool {
        var count = 4096
        while count <= mostRoom {
            var entry = passwd(), found: UnsafeMutablePointer<passwd>?
            var room = [CChar](repeating: 0, count: count)
            switch getpwnam_r(name, &entry, &room, count, &found) {
            case 0: return found != nil && entry.pw_uid == 0
            case ERANGE: count *= 4
            case EINTR: continue
            // Attack: root's name looks unknown while /etc/passwd or a name service cannot be read. The C library returns 0
            // for an unknown name, so each error means that the lookup failed: EPERM and ENOENT too. Of several services in
            // nsswitch.conf, the library reports only the last one's answer.
            default: return true
            }
        }
        return true
    }
}
