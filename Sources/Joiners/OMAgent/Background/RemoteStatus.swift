// What the agent says about a remote. Format: docs/formats/agent-protocol.md, "Sync".

package import OMAgentProtocol
package import OMItems
package import OMParcels
package import OMRecords
package import OMSecrets

/// The state of a remote in the agent.
package enum RemoteState: UInt8, Sendable, WireValue {
    case idle = 0
    case pulling = 1
    case applying = 2
    case pushing = 3
    /// A level is closed, or files of another device are missing.
    case waiting = 4
    /// The remote is not there, or does not answer.
    case offline = 5
    /// Many changes wait for the user. All other changes come and go.
    case held = 6
    /// Only the user can change that.
    case stopped = 7
}

/// How much of an exchange is done.
package struct TransferStatus: Hashable, Sendable, WireValue {
    /// Packs of other devices.
    package var (read, toRead): (UInt32, UInt32)
    /// Bytes of packs.
    package var written: UInt64

    package init(read: UInt32 = 0, toRead: UInt32 = 0, written: UInt64 = 0) {
        (self.read, self.toRead, self.written) = (read, toRead, written)
    }

    package func write(to body: inout SecretBuffer) { body.write(read, toRead, written) }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        self.init(read: try wire.read(), toRead: try wire.read(), written: try wire.read())
    }
}

/// The result of an exchange.
package enum RemoteResult: Hashable, Sendable {
    package static let maximumReport = 64 << 10

    /// The bytes of its report, which OMSync makes and reads.
    case report([UInt8])
    case vault(VaultError)
    case remote(RemoteFailure)
    case news(RemoteNews.Problem)
}

/// What the agent did with a remote.
package struct RemoteStatus: Hashable, Sendable {
    /// The remote's number on this device.
    package let remote: UInt8
    package var state = RemoteState.idle
    /// Whether a request for an exchange is not answered yet.
    package var isAsked = false
    package var counts = TransferStatus()
    /// When the last exchange ended, in seconds since 1970, and its result.
    package var last: End?

    package struct End: Hashable, Sendable {
        package let time: Int64
        package let outcome: RemoteResult

        package init(time: Int64, outcome: RemoteResult) { (self.time, self.outcome) = (time, outcome) }
    }

    package init(of remote: UInt8) { self.remote = remote }
}

/// What the user has to settle, the devices for whose edits versions wait, and the names of the devices.
package struct SyncSummary: Hashable, Sendable {
    package struct Name: Hashable, Sendable {
        package let device: UInt32
        package let text: String

        package init(device: UInt32, text: String) { (self.device, self.text) = (device, text) }
    }

    package struct Waiting: Hashable, Sendable {
        package let device: UInt32
        /// The time of the oldest such version, in seconds since 1970.
        package let since: Int64

        package init(device: UInt32, since: Int64) { (self.device, self.since) = (device, since) }
    }

    /// The number of questions, and of those about conflict copies and changed names.
    package let (questions, copies, names): (UInt32, UInt32, UInt32)
    package let awaited: [Waiting]
    package let devices: [Name]

    package init(questions: Int, copies: Int, names: Int, awaited: [Waiting], devices: [Name]) {
        self.questions = UInt32(clamping: questions)
        (self.copies, self.names) = (UInt32(clamping: copies), UInt32(clamping: names))
        (self.awaited, self.devices) = (awaited, devices)
    }
}

/// What the agent says about the sync of a vault.
package struct AgentSyncStatus: Hashable, Sendable {
    /// By rising number.
    package let remotes: [RemoteStatus]
    /// Nil unless it was asked for, and while a level is closed.
    package let facts: SyncSummary?
}

// MARK: - Bytes

/// 0 ‖ length (4) ‖ report, 1 ‖ error of the vault, 2 ‖ failure of the remote, or 3 ‖ problem
extension RemoteResult: WireValue {
    package func write(to body: inout SecretBuffer) {
        switch self {
        case .report(let bytes):
            body.write(tag: 0, UInt32(bytes.count))
            body.append(bytes.span)
        case .vault(let error): body.write(tag: 1, error)
        case .remote(let failure): body.write(tag: 2, failure)
        case .news(let problem): body.write(tag: 3, problem)
        }
    }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        switch try wire.read(UInt8.self) {
        case 0:
            let count = Int(try wire.read(UInt32.self))
            guard count <= Self.maximumReport else { throw MalformedBytes() }
            self = .report(try wire.bytes(count))
        case 1: self = .vault(try wire.read())
        case 2: self = .remote(try wire.read())
        case 3: self = .news(try wire.read())
        default: throw MalformedBytes()
        }
    }
}

extension RemoteFailure: WireValue {
    package func write(to body: inout SecretBuffer) {
        switch self {
        case .storage(let error): body.write(tag: 0, error)
        case .helper(.deadline): body.write(tag: 1)
        case .helper(.programMissing(let path)): body.write(tag: 3, path.isAgentPath ? path : "/")
        case .helper(.unsafeProgram(let path)): body.write(tag: 4, path.isAgentPath ? path : "/")
        case .helper(.io(let code)): body.write(tag: 5, code)
        case .helper: body.write(tag: 2)
        case .interrupted: body.write(tag: 6)
        case .server(let refusal): body.write(tag: 7, refusal)
        case .vault(let error): body.write(tag: 8, error)
        }
    }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        switch try wire.read(UInt8.self) {
        case 0: self = .storage(try wire.read())
        case 1: self = .helper(.deadline)
        case 2: self = .helper(.misbehaved)
        case 3: self = .helper(.programMissing(try wire.read()))
        case 4: self = .helper(.unsafeProgram(try wire.read()))
        case 5: self = .helper(.io(try wire.read()))
        case 6: self = .interrupted
        case 7: self = .server(try wire.read())
        case 8: self = .vault(try wire.read())
        default: throw MalformedBytes()
        }
    }
}

extension RollProblem: WireValue {}

extension RemoteNews.Problem: WireValue {
    package func write(to body: inout SecretBuffer) {
        switch self {
        case .notMounted: body.write(tag: 0)
        case .otherVault: body.write(tag: 1)
        case .badRoll(let problem): body.write(tag: 2, problem)
        }
    }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        switch try wire.read(UInt8.self) {
        case 0: self = .notMounted
        case 1: self = .otherVault
        case 2: self = .badRoll(try wire.read())
        default: throw MalformedBytes()
        }
    }
}

/// number (1) ‖ state (1) ‖ asked (flag) ‖ counts ‖ optional: time (8) ‖ outcome
extension RemoteStatus: WireValue {
    package func write(to body: inout SecretBuffer) { body.write(remote, state, isAsked, counts, last) }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        self.init(of: try wire.read())
        (state, isAsked, counts) = (try wire.read(), try wire.read(), try wire.read())
        last = try wire.read()
    }
}

extension RemoteStatus.End: WireValue {
    package func write(to body: inout SecretBuffer) { body.write(time, outcome) }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        self.init(time: try wire.read(), outcome: try wire.read())
    }
}

/// number (4) ‖ name
extension SyncSummary.Name: WireValue {
    package func write(to body: inout SecretBuffer) { body.write(device, text) }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        self.init(device: try wire.read(), text: try wire.read())
    }
}

/// number (4) ‖ since (8)
extension SyncSummary.Waiting: WireValue {
    package func write(to body: inout SecretBuffer) { body.write(device, since) }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        self.init(device: try wire.read(), since: try wire.read())
    }
}

/// questions (4) ‖ copies (4) ‖ names (4) ‖ count (2) ‖ awaited devices ‖ count (2) ‖ devices
extension SyncSummary: WireValue {
    package func write(to body: inout SecretBuffer) {
        body.write(questions, copies, names)
        body.write(shortList: awaited)
        body.write(shortList: devices)
    }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        (questions, copies, names) = (try wire.read(), try wire.read(), try wire.read())
        awaited = try wire.shortList()
        devices = try wire.shortList()
    }
}

/// count (2) ‖ remotes ‖ optional facts
extension AgentSyncStatus: WireValue {
    package func write(to body: inout SecretBuffer) {
        body.write(shortList: remotes)
        body.write(facts)
    }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        (remotes, facts) = (try wire.shortList(), try wire.read())
    }
}
