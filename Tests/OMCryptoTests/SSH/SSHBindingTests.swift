import OMSecrets
import Testing

@testable import OMCrypto

@Suite struct SSHBindingTests {
    /// A host with a key of its own.
    private struct Host {
        let key: [UInt8]
        let sign: ([UInt8]) throws -> [UInt8]

        init(_ kind: KeyKind = .ed25519, flags: UInt32 = 2) throws {
            let box = Box(try PrivateKey.generate(kind))
            key = try box.key.publicKey().openSSHBlob().blob
            let name = try #require(SSHSignature.algorithm(for: kind, flags: flags))
            sign = { try SSHSignature.make($0, with: box.key, name) }
        }

        func binding(_ session: [UInt8], isForwarding: Bool) throws -> SSHBinding {
            SSHBinding(hostKey: key, session: session, signature: try sign(session), isForwarding: isForwarding)
        }

        private final class Box: Sendable {
            let key: PrivateKey
            init(_ key: consuming PrivateKey) { self.key = key }
        }
    }

    private let one = [UInt8](repeating: 1, count: 32)
    private let two = [UInt8](repeating: 2, count: 32)
    private let three = [UInt8](repeating: 3, count: 64)

    private func login(_ session: [UInt8], at host: [UInt8]? = nil) -> SSHSignedData {
        .login(.init(session: session, user: "git", hostKey: host))
    }

    @Test("the signature of each kind of host key is checked, and none of another session, host or scheme counts")
    func signatures() throws {
        let kinds: [(KeyKind, UInt32)] = [
            (.ed25519, 0), (.ec(.p256), 0), (.ec(.p384), 0), (.ec(.p521), 0), (.rsa(bits: 2048), 2), (.rsa(bits: 2048), 4),
        ]
        let other = try Host()
        for (kind, flags) in kinds {
            let host = try Host(kind, flags: flags)
            let good = try host.sign(one)
            #expect(SSHSignature.isRight(good, of: one, by: host.key))
            #expect(!SSHSignature.isRight(good, of: two, by: host.key))
            #expect(!SSHSignature.isRight(good, of: one, by: other.key))
            #expect(!SSHSignature.isRight(good + [0], of: one, by: host.key))
            #expect(!SSHSignature.isRight(good, of: one, by: host.key + [0]))
            for count in 0..<good.count { #expect(!SSHSignature.isRight(Array(good.prefix(count)), of: one, by: host.key)) }
        }
        #expect(SSHSignature.algorithm(for: .rsa(bits: 2048), flags: 0) == nil)
        #expect(SSHSignature.algorithm(for: .rsa(bits: 2047), flags: 4) == nil)
        #expect(SSHSignature.algorithm(for: .x25519, flags: 4) == nil)
    }

    @Test("a forged binding does not count, and neither does one after a login or the 17th")
    func refused() throws {
        let (host, other) = (try Host(), try Host())
        var bindings = SSHBindings()
        let forged = SSHBinding(hostKey: other.key, session: one, signature: try host.sign(one), isForwarding: true)
        #expect(!bindings.add(forged) && !bindings.isForwarded)
        #expect(try bindings.add(host.binding(one, isForwarding: false)))
        #expect(try bindings.add(host.binding(one, isForwarding: false)), "ssh may send it twice")
        #expect(try !bindings.add(host.binding(one, isForwarding: true)))
        #expect(try !bindings.add(host.binding(two, isForwarding: true)))
        #expect(!bindings.isForwarded && bindings.destination == host.key)

        var many = SSHBindings()
        for index in 0..<SSHBindings.most {
            #expect(try many.add(host.binding([UInt8](repeating: UInt8(index), count: 32), isForwarding: true)))
        }
        #expect(try !many.add(host.binding(three, isForwarding: true)))
    }

    @Test("a connection signs logins of its own session only, and a forwarded one none of the session that forwards")
    func allowed() throws {
        let (near, far) = (try Host(), try Host())
        var bindings = SSHBindings()
        #expect(bindings.allow(login(one)) && bindings.allow(.file(namespace: "git")))
        #expect(try bindings.add(near.binding(one, isForwarding: true)))
        #expect(bindings.isForwarded && bindings.destination == nil && bindings.forwardingHosts == [near.key])
        #expect(!bindings.allow(login(one)) && bindings.allow(login(two)) && bindings.allow(.file(namespace: "git")))
        #expect(try bindings.add(far.binding(two, isForwarding: false)))
        #expect(bindings.isForwarded && bindings.destination == far.key && bindings.forwardingHosts == [near.key])
        #expect(bindings.allow(login(two)) && bindings.allow(login(two, at: far.key)))
        #expect(!bindings.allow(login(three)) && !bindings.allow(login(one)) && !bindings.allow(login(two, at: near.key)))
    }
}
