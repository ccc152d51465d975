// User names as the protocols send them. The network library copies names and passwords into its own buffers, and keeps
// the copies until the process ends. Nothing here can avoid that.

internal import OMOnlineModel

/// A user name with its identity domain.
struct QualifiedUserName {
    let text: String
    /// The header that carries the domain. Nil if no header does.
    let header: OnlineService.Header?

    /// - Throws: ``OnlineFailure/unusableUser``, ``OnlineFailure/unusableHeaders``.
    init(_ user: String, _ domain: OnlineService.Domain?) throws(OnlineRefusal) {
        guard !user.isEmpty, user.utf8.count <= 4096, user.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw .failed(.unusableUser)
        }
        guard let domain else {
            (text, header) = (user, nil)
            return
        }
        guard let name = domain.header else {
            guard !domain.name.isEmpty, domain.name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
                throw .failed(.unusableUser)
            }
            (text, header) = ("\(domain.name).\(user)", nil)
            return
        }
        (text, header) = (user, OnlineService.Header(name, domain.name))
    }
}
