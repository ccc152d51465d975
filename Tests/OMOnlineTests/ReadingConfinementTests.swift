// The calls that each layer of the confinement of an import's reader stops. docs/formats/import-reader.md.

import Glibc
import TestSupport
import Testing

@testable import OMAgent

@Suite("The confinement of an import's reader") struct ReadingConfinementTests {
    private typealias Layer = ConfinementTests.Layer

    private static let attempts: [ConfinementTests.Attempt] = [
        ("device-key", [(.calls, EPERM), (.user, EACCES), (.files, EACCES)]),
        ("write", [(.calls, EPERM), (.user, EACCES), (.files, EACCES)]),
        ("truncate", [(.calls, EPERM), (.user, EACCES), (.files, EACCES)]),
        ("create", [(.calls, EPERM), (.user, EACCES), (.files, EACCES)]),
        ("unlink", [(.calls, EPERM), (.user, EACCES), (.files, EACCES)]),
        ("rename", [(.calls, EPERM), (.user, EACCES), (.files, EACCES)]),
        ("agent", [(.sockets, EPERM), (.calls, EPERM), (.user, EACCES)]),
        ("abstract", [(.sockets, EPERM), (.calls, EPERM), (.scope, EPERM)]),
        ("signal", [(.calls, EPERM), (.user, EPERM), (.scope, EPERM)]),
        ("limits", [(.calls, EPERM), (.user, EPERM)]),
        ("keyring", [(.calls, EPERM)]),
        ("fork", [(.calls, EPERM)]),
        ("port", [(.sockets, EPERM), (.calls, EPERM), (.ports, EACCES)]),
        ("other-port", [(.sockets, EPERM), (.calls, EPERM), (.ports, EACCES)]),
        ("other-protocol", [(.sockets, EPERM), (.calls, EPERM)]),
        ("name-server", [(.sockets, EPERM), (.calls, EPERM)]),
        ("netlink", [(.sockets, EPERM), (.calls, EPERM)]),
        ("pair", [(.sockets, EPERM), (.calls, EPERM)]),
        ("listening", [(.sockets, EPERM), (.calls, EPERM), (.ports, EACCES)]),
        ("certificates", [(.calls, EPERM), (.files, EACCES)]),
        ("hosts", [(.calls, EPERM), (.files, EACCES)]),
        ("exec", [(.calls, EPERM), (.user, EACCES), (.files, EACCES)]),
    ]

    @Test("as a user it opens no file and no socket, and starts no program: each layer stops its own calls")
    func user() async throws {
        let all = Set(Layer.allCases)
        let left: [Set<Layer>] = [[], [.files], [.sockets], [.calls], [.calls, .files], [.sockets, .calls], all]
        for left in left { try await ConfinementTests.check(Self.attempts, as: "try-reading", without: left, asRoot: false) }
    }

    @Test("as root it is another user too", .enabled(if: geteuid() == 0))
    func root() async throws {
        let left: [Set<Layer>] = [[], [.calls], [.calls, .files], [.user]]
        for left in left { try await ConfinementTests.check(Self.attempts, as: "try-reading", without: left, asRoot: true) }
    }
}
