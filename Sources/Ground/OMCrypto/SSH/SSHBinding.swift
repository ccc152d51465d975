// OpenSSH's `session-bind@openssh.com`: the SSH connections for which a connection to the agent is used.

/// One `session-bind`: a host's key, and its signature over the id of the SSH connection.
package struct SSHBinding: Hashable, Sendable {
    static let name = "session-bind@openssh.com"

    /// Of a certificate its key.
    package let hostKey: [UInt8]
    package let session: [UInt8]
    let signature: [UInt8]
    /// Whether the connection is forwarded to that host.
    package let isForwarding: Bool

    package init(hostKey: [UInt8], session: [UInt8], signature: [UInt8], isForwarding: Bool) {
        (self.hostKey, self.session, self.signature) = (SSHSignature.hostKey(in: hostKey), session, signature)
        self.isForwarding = isForwarding
    }
}

/// What ssh told about one connection to the agent.
package struct SSHBindings: Sendable {
    /// The most for one connection.
    package static let most = 16

    private var bindings: [SSHBinding] = []
    private var hasRefused = false

    package init() {}

    /// Whether the connection comes from another machine.
    ///
    /// Attack: ssh binds a forwarded connection to a host whose key or signature is of a kind that is not read here, and goes on
    /// without. So after a binding that was refused, the connection counts as one from an unknown machine.
    package var isForwarded: Bool { hasRefused || bindings.contains { $0.isForwarding } }

    /// The keys of the hosts over which the connection comes, the nearest first.
    package var forwardingHosts: [[UInt8]] { bindings.filter(\.isForwarding).map(\.hostKey) }

    /// The key of the host at which a login of this connection is. Nil if it is not proven.
    ///
    /// Attack: a machine to which the agent is forwarded signs, as a host, the session of its own login at another host. The server
    /// of a login that names the host's key takes no other key.
    package func destination(of login: SSHSignedData.Login) -> [UInt8]? {
        guard let last = bindings.last, !last.isForwarding, !isForwarded || login.hostKey == last.hostKey else { return nil }
        return last.hostKey
    }

    /// - Returns: Whether the binding counts. After a refused binding no other counts.
    package mutating func add(_ binding: SSHBinding) -> Bool {
        guard !hasRefused, take(binding) else {
            hasRefused = true
            return false
        }
        return true
    }

    private mutating func take(_ binding: SSHBinding) -> Bool {
        // Attack: a host forges the key of another host, so that a question names that one. Only that host can sign the session.
        guard SSHSignature.isRight(binding.signature, of: binding.session, by: binding.hostKey) else { return false }
        if bindings.contains(where: { $0.session == binding.session }) {
            return bindings.contains {
                ($0.session, $0.hostKey, $0.isForwarding) == (binding.session, binding.hostKey, binding.isForwarding)
            }
        }
        // Attack: a connection that is already used for a login is forwarded, or a host binds without end.
        guard bindings.count < Self.most, bindings.last?.isForwarding != false else { return false }
        bindings.append(binding)
        return true
    }

    /// Whether this connection may have it signed.
    package func allow(_ data: SSHSignedData) -> Bool {
        guard case .login(let login) = data, let last = bindings.last else { return true }
        // Attack: a host passes on the request of a login elsewhere, in the name of the connection to itself.
        if last.isForwarding { return !bindings.contains { $0.session == login.session } }
        return login.session == last.session && (login.hostKey.map { $0 == last.hostKey } ?? true)
    }
}
