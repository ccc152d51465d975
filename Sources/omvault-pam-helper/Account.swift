// The machine's accounts, as far as a login has to know them.

internal import Glibc

enum Account {
    private static let mostRoom = 1 << 20

    /// Whether the name is of an account with uid 0, under whichever name, or cannot be looked up.
    static func mayBeRoot(_ name: String) -> Bool {
        var count = 4096
        while count <= mostRoom {
            var entry = passwd(), found: UnsafeMutablePointer<passwd>?
            var room = [CChar](repeating: 0, count: count)
            switch getpwnam_r(name, &entry, &room, count, &found) {
            case 0: return found != nil && entry.pw_uid == 0
            // What getpwnam(3) names as ways to say that there is no such account.
            case ENOENT, ESRCH, EBADF, EPERM: return false
            case ERANGE: count *= 4
            case EINTR: continue
            default: return true
            }
        }
        return true
    }
}
