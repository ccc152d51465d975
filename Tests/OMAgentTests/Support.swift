import COMSystem
import Foundation
import Glibc
import OMRecords
import OMSecrets
import OMStorage
import OMSystem
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol
@testable import OMItems
@testable import OMVault

/// A home with its own vault, runtime folder and agent, which are all deleted with it.
final class AgentHome {
    let folder: TestFolder
    var root: String { folder.path }
    let socket: AgentSocket
    let client: AgentClient
    let paths: VaultPaths
    static let program = Programs.path(of: "omvault-agent")

    var vault: String { root + "/a.omv" }

    /// - Parameter folder: where the home is; a folder in memory for tests that need one.
    init(in folder: String? = nil, options: [String] = []) throws {
        self.folder = try TestFolder(in: folder, containing: ["run"])
        socket = try AgentSocket(path: self.folder.file("run/agent.sock"))
        client = AgentClient(socket)
        paths = try #require(VaultPaths(vault: self.folder.file("a.omv"), device: self.folder.file("device")))
        #expect(try AgentProcess.start(Self.program, at: socket, options: options))
    }

    deinit { try? client.stepDown() }

    func start(options: [String] = []) throws {
        _ = try AgentProcess.start(Self.program, at: socket, options: options)
    }

    func process() throws -> Int32 { try client.status().process }

    func makeVault(keepsTicket: Bool = false) throws {
        try VaultFile.create(
            vault, device: DeviceFolder.make(root + "/device"),
            policy: VaultPolicy(defaultLevel: .whenUnlocked, keepsTicket: keepsTicket, stretch: .floor),
            slots: [try NewSlot(password: Password(bytes("pass word")), .floor)])
        for level in ProtectionLevel.allCases {
            try open().edit { edit throws(VaultError) in
                try edit.add(ItemName(level.itemName), level: level) { draft throws(VaultError) in
                    try draft.put(bytes("secret of \(level.itemName)"), at: FieldName("f"))
                }
            }
        }
    }

    func open() throws -> Vault {
        let file = try VaultFile.open(vault, device: try DeviceFolder(root + "/device"))
        return try file.unlock(file.slots[0], with: try file.slots[0].key(stretching: bytes("pass word")))
    }

    /// The lock that every change of the vault takes.
    func fileLock() throws -> FileLock {
        let file = try VaultFile.open(vault, device: try DeviceFolder(root + "/device"))
        switch file.highWater() {
        case .some(let marks): return marks.lock
        case .none: throw VaultError.unseenHere
        }
    }

    /// Without times the vault stays open for longer than any test.
    func unlock(
        idle: UInt32 = AgentServer.TimeOuts.longest, hard: UInt32 = AgentServer.TimeOuts.longest
    ) throws {
        let opened = try client.unlock(paths, open().classKeys(), openedBy: nil, idle: idle, hard: hard).get()
        // The reply has the time of the unlock, however long ago that was.
        #expect(opened.paths == paths && opened.state == .unlocked && opened.idleLeft == idle && opened.hardLeft == hard)
    }

    /// The secret of the item of a level, or the reason why it is unavailable.
    func answer(_ level: ProtectionLevel, of paths: VaultPaths? = nil) throws -> String {
        let path = FieldPath(try ItemName(level.itemName), try FieldName("f"))
        switch try client.perform(paths ?? self.paths, .secret(path, revision: nil)) {
        case .reply(.secret(let secret)): return secret.text
        case .reply: return "another reply"
        case .failure(let error): return "\(error)"
        case .locked(let state): return "locked \(state.rawValue)"
        }
    }
}

extension ProtectionLevel {
    var itemName: String { name + (isDeviceOnly ? " here" : "") }
}

func bytes(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }

extension SecretBytes {
    var text: String { withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) } }
}

/// A client that obeys no rule.
final class RawClient {
    let descriptor: Int32

    init(_ home: AgentHome) throws {
        descriptor = om_socket_connect(home.root + "/run/agent.sock", 2_000)
        try #require(descriptor >= 0)
    }

    deinit { close(descriptor) }

    /// Whether the other end is still open.
    var isOpen: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) != 0
    }

    func send(_ bytes: [UInt8]) { _ = bytes.withUnsafeBytes { om_socket_send(descriptor, $0.baseAddress, $0.count) } }

    /// The bytes that arrive until the other end closes, or until `count` bytes are there.
    ///
    /// - Parameter milliseconds: nil without a time-out; after a time-out without bytes the result is nil.
    func receive(_ count: Int = .max, within milliseconds: Int32 = .max) -> [UInt8]? {
        var all: [UInt8] = []
        let end = om_boot_milliseconds() + Int64(milliseconds)
        while all.count < count {
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, Int32(clamping: max(0, end - om_boot_milliseconds()))) > 0 else { return nil }
            var piece = [UInt8](repeating: 0, count: 4096)
            let got = piece.withUnsafeMutableBytes { om_socket_receive(descriptor, $0.baseAddress, $0.count) }
            guard got > 0 else { return all }
            all += piece.prefix(got)
        }
        return all
    }
}

/// The bytes of a frame on the wire.
func frame(_ kind: UInt8, _ body: [UInt8] = [], version: UInt8 = AgentProtocol.version, count: Int? = nil) -> [UInt8] {
    let count = count ?? body.count
    return [0x4F, 0x41, version, kind] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) } + body
}
