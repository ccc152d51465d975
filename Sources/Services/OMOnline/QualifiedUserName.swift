// User names and passwords as the protocols send them, made from bytes in locked memory. The copy that the network
// library keeps until the process ends cannot be avoided: it takes its own buffers.

internal import OMOnlineModel

/// A user name with its identity domain.
struct QualifiedUserName {
    let text: String
    /// The header that carries the domain, if one does.
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
