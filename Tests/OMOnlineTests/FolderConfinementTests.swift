// The calls that each layer of the folder helper's confinement stops, and those that it needs. docs/formats/sync.md, "The folder's
// helper".

import Glibc
import TestSupport
import Testing

@testable import OMAgent

@Suite("The confinement of a folder's helper") struct FolderConfinementTests {
    private typealias Layer = ConfinementTests.Layer

    /// Root's helper stays root, so no attempt has the layer `user`.
    private static let attempts: [ConfinementTests.Attempt] = [
        ("device-key", [(.files, EACCES)]),
        ("write", [(.calls, EPERM), (.files, EACCES)]),
        ("truncate", [(.calls, EPERM), (.files, EACCES)]),
        ("create", [(.calls, EPERM), (.files, EACCES)]),
        ("unlink", [(.files, EACCES)]),
        ("rename", [(.files, EACCES)]),
        ("agent", [(.sockets, EPERM), (.calls, EPERM)]),
        ("abstract", [(.sockets, EPERM), (.calls, EPERM), (.scope, EPERM)]),
        ("memory", [(.calls, EPERM), (.privileges, EPERM), (.files, EPERM), (.ports, EPERM), (.scope, EPERM)]),
        ("environment", [(.privileges, EACCES), (.files, EACCES), (.ports, EACCES), (.scope, EACCES)]),
        ("signal", [(.calls, EPERM), (.scope, EPERM)]),
        ("limits", [(.calls, EPERM)]),
        ("keyring", [(.calls, EPERM)]),
        ("fork", [(.calls, EPERM)]),
        ("port", [(.sockets, EPERM), (.calls, EPERM), (.ports, EACCES)]),
        ("other-port", [(.sockets, EPERM), (.calls, EPERM), (.ports, EACCES)]),
        ("other-port-fast", [(.sockets, EPERM), (.calls, EPERM)]),
        ("other-protocol", [(.sockets, EPERM), (.calls, EPERM)]),
        ("name-server", [(.sockets, EPERM), (.calls, EPERM)]),
        ("netlink", [(.sockets, EPERM), (.calls, EPERM)]),
        ("pair", [(.sockets, EPERM), (.calls, EPERM)]),
        ("listening", [(.sockets, EPERM), (.calls, EPERM), (.ports, EACCES)]),
        ("own-thread", [(.calls, EPERM), (.files, EACCES)]),
        ("certificates", [(.files, EACCES)]),
        ("hosts", [(.files, EACCES)]),
        // In the folder.
        ("in-list", []), ("in-new", []), ("in-read", []), ("in-folder", []), ("in-inner", []), ("in-rename", []),
        ("in-remove", []),
        ("in-link", [(.calls, EPERM), (.files, EACCES)]),
        ("in-pipe", [(.calls, EPERM), (.files, EACCES)]),
        ("in-remove-folder", [(.calls, EPERM), (.files, EACCES)]),
        // Beside it, and between the two.
        ("out-list", [(.files, EACCES)]),
        ("out-new", [(.files, EACCES)]),
        ("out-folder", [(.files, EACCES)]),
        ("out-read-write", [(.files, EACCES)]),
        ("out-hard-link", [(.calls, EPERM), (.files, EXDEV)]),
        ("out-rename", [(.files, EACCES)]),
        ("exec", [(.calls, EPERM), (.files, EACCES)]),
    ]

    @Test("as a user it keeps the files of its folder, and all else fails with its layers' own errors")
    func user() async throws {
        let all = Set(Layer.allCases)
        let left: [Set<Layer>] = [
            [], [.files], [.sockets], [.calls], [.calls, .files], [.sockets, .calls], [.sockets, .calls, .ports],
            [.sockets, .calls, .scope], [.files, .ports, .scope], [.calls, .files, .ports, .scope],
            all.subtracting([.privileges]), all,
        ]
        for left in left {
            try await ConfinementTests.check(Self.attempts, as: "try-remote", without: left, asRoot: false)
        }
    }

    @Test("as root it is the same, without capabilities", .enabled(if: geteuid() == 0))
    func root() async throws {
        let all = Set(Layer.allCases)
        let left: [Set<Layer>] = [
            [], [.files], [.calls], [.calls, .files], [.sockets, .calls], [.calls, .files, .ports, .scope],
            all.subtracting([.privileges]), all,
        ]
        for left in left {
            try await ConfinementTests.check(Self.attempts, as: "try-remote", without: left, asRoot: true)
        }
    }
}
