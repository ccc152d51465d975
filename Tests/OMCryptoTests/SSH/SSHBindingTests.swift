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

    private func at(_ session: [UInt8], _ host: [UInt8]? = nil) -> SSHSignedData.Login {
        .init(session: session, user: "git", hostKey: host)
    }

    private func login(_ session: [UInt8], at host: [UInt8]? = nil) -> SSHSignedData { .login(at(session, host)) }

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

    @Test("after a binding that is refused, a connection comes from an unknown machine and takes no other binding")
    func refused() throws {
        let (host, other) = (try Host(), try Host())
        let forged = SSHBinding(hostKey: other.key, session: one, signature: try host.sign(one), isForwarding: true)
        let login = try host.binding(one, isForwarding: false)
        let many = try (0..<SSHBindings.most).map {
            try host.binding([UInt8](repeating: UInt8($0), count: 32), isForwarding: true)
        }
        // A forged one, two after a login, and the 17th.
        let refusals: [([SSHBinding], SSHBinding)] = [
            ([], forged), ([login], try host.binding(one, isForwarding: true)),
            ([login], try host.binding(two, isForwarding: true)), (many, try host.binding(three, isForwarding: true)),
        ]
        for (taken, refused) in refusals {
            var bindings = SSHBindings()
            for binding in taken { #expect(bindings.add(binding) && bindings.add(binding), "ssh may send it twice") }
            #expect(bindings.isForwarded == (taken.first?.isForwarding == true))
            #expect(!bindings.add(refused) && bindings.isForwarded)
            #expect(try !bindings.add(other.binding(three, isForwarding: true)))
            #expect(bindings.forwardingHosts == taken.filter(\.isForwarding).map(\.hostKey))
        }
    }

    @Test("a host's certificate counts as its key")
    func certificates() throws {
        for kind: KeyKind in [.ed25519, .ec(.p256), .rsa(bits: 2048)] {
            let host = try Host(kind)
            let count = 4 + host.key[..<4].reduce(0) { $0 << 8 | Int($1) }
            let name = String(decoding: host.key[4..<count], as: UTF8.self)
            let certificate =
                SSHBytes.string(name + "-cert-v01@openssh.com") + SSHBytes.string("random") + host.key[count...] + [1, 2, 3]
            var bindings = SSHBindings()
            let binding = SSHBinding(
                hostKey: certificate, session: one, signature: try host.sign(one), isForwarding: false)
            #expect(bindings.add(binding) && !bindings.isForwarded)
            #expect(bindings.destination(of: at(one)) == host.key)
            for length in 0..<count + 10 { #expect(SSHSignature.hostKey(in: Array(certificate.prefix(length))).count == length) }
        }
    }

    @Test("a connection signs logins of its own session only, and a forwarded one none of the session that forwards")
    func allowed() throws {
        let (near, far) = (try Host(), try Host())
        var bindings = SSHBindings()
        #expect(bindings.allow(login(one)) && bindings.allow(.file(namespace: "git")))
        #expect(try bindings.add(near.binding(one, isForwarding: true)))
        #expect(bindings.isForwarded && bindings.forwardingHosts == [near.key])
        #expect(!bindings.allow(login(one)) && bindings.allow(login(two)) && bindings.allow(.file(namespace: "git")))
        #expect(try bindings.add(far.binding(two, isForwarding: false)))
        #expect(bindings.isForwarded && bindings.forwardingHosts == [near.key])
        #expect(bindings.allow(login(two)) && bindings.allow(login(two, at: far.key)))
        #expect(!bindings.allow(login(three)) && !bindings.allow(login(one)) && !bindings.allow(login(two, at: near.key)))
    }

    @Test("a question names a host only if ssh here or the login itself proves it")
    func destinations() throws {
        let (near, far) = (try Host(), try Host())
        var local = SSHBindings(), forwarded = SSHBindings()
        #expect(local.destination(of: at(one, far.key)) == nil, "no host signed")
        #expect(try local.add(far.binding(one, isForwarding: false)))
        #expect(local.destination(of: at(one)) == far.key)
        #expect(try forwarded.add(near.binding(one, isForwarding: true)))
        #expect(forwarded.destination(of: at(two, far.key)) == nil)
        // The near machine signs, as a host, the session of its own login at the far host.
        #expect(try forwarded.add(near.binding(two, isForwarding: false)))
        #expect(forwarded.destination(of: at(two)) == nil)
        #expect(forwarded.destination(of: at(two, far.key)) == nil)
        #expect(forwarded.destination(of: at(two, near.key)) == near.key)
    }
}
