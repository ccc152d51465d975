// The machine's accounts, as far as a login has to know them.

internal import Glibc

enum Account {
    private static let mostRoom = 1 << 20

    /// Whether the account of this name has uid 0. True as well where that cannot be looked up.
    static func mayBeRoot(_ name: String) -> Bool {
        var count = 4096
        while count <= mostRoom {
            var entry = passwd(), found: UnsafeMutablePointer<passwd>?
            var room = [CChar](repeating: 0, count: count)
            switch getpwnam_r(name, &entry, &room, count, &found) {
            case 0: return found != nil && entry.pw_uid == 0
            case ERANGE: count *= 4
            case EINTR: continue
            // Attack: root's name is taken for a stranger's where /etc/passwd or a name service cannot be read. The C library
            // answers 0 for an unknown name, so each error means that it could not look: EPERM and ENOENT too. Of several
            // services in nsswitch.conf it tells the last one's answer only.
            default: return true
            }
        }
        return true
    }
}
