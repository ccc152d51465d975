// What a server's helper answers. Format: docs/formats/sync.md, "The server's helper".

internal import OMAgentProtocol
package import OMOnlineModel
package import OMParcels
internal import OMRecords
package import OMSecrets

package enum ServerHelperReply: Sendable {
    case failed(ServerRefusal)
    case done
    /// The file is not there.
    case none
    case bytes([UInt8])
    case files(ServerListing)
    /// The list of files has not changed.
    case unchanged
    case remotes([RemoteName])
    case tokens(Tokens)

    /// The remote of a vault.
    package struct RemoteName: Hashable, Sendable {
        /// 16 bytes each.
        package let vault: [UInt8]
        package let incarnation: [UInt8]

        package init(vault: [UInt8], incarnation: [UInt8]) {
            precondition(vault.count == 16 && incarnation.count == 16, "fixed sizes")
            (self.vault, self.incarnation) = (vault, incarnation)
        }
    }

    package final class Tokens: Sendable {
        let access: SecretBytes
        let refresh: SecretBytes
        /// In seconds.
        let lifetime: UInt32

        package init(access: consuming SecretBytes, refresh: consuming SecretBytes, lifetime: UInt32) {
            self.access = access
            self.refresh = refresh
            self.lifetime = lifetime
        }
    }

    static let maximumRemotes = 1000
    static let maximumRefusal = 16
    static let maximumTokens = 1 + 4 + 2 * (4 + ServerLogin.maximumToken)

    /// The message of an answer with a secret. Nil for one without.
    var secretMessage: SecretBytes? {
        guard case .tokens(let tokens) = self else { return nil }
        var message = SecretBuffer()
        message.append(7)
        message.write(tokens.lifetime)
        message.write(tokens.access)
        message.write(tokens.refresh)
        return message.finish()
    }

    /// The message of an answer without a secret. Nil for one with a secret.
    var encoded: [UInt8]? {
        switch self {
        case .failed(let refusal):
            var message = SecretBuffer()
            message.write(tag: 0, refusal)
            return message.withBytes { (bytes: Span<UInt8>) in bytes.indices.map { bytes[$0] } }
        case .done: return [1]
        case .none: return [2]
        case .bytes(let bytes): return [3] + bytes
        case .files(let listing): return [4] + listing.encoded
        case .unchanged: return [5]
        case .remotes(let names): return [6] + names.flatMap { $0.vault + $0.incarnation }
        case .tokens: return nil
        }
    }

    /// Attack: an attacker has taken over the helper, which then answers with more than it was asked for, or with more than a
    /// remote can have.
    ///
    /// - Throws: For an answer that does not fit the request.
    init(decoding message: Span<UInt8>, to request: ServerHelperRequest) throws(MalformedBytes) {
        guard message.count > 0 else { throw MalformedBytes() }
        let rest = message.extracting(1..<message.count)
        switch (message[0], request) {
        case (0, _):
            var wire = WireReader(rest)
            self = .failed(try wire.read())
            try wire.end()
        case (1, .open), (1, .write), (1, .remove), (1, .found), (1, .use), (1, .logOut):
            guard rest.count == 0 else { throw MalformedBytes() }
            self = .done
        case (2, .bytes):
            guard rest.count == 0 else { throw MalformedBytes() }
            self = .none
        case (3, .bytes(let file)):
            guard rest.count <= file.maximumCount else { throw MalformedBytes() }
            self = .bytes(Self.array(rest))
        case (4, .files): self = .files(try ServerListing(decoding: Self.array(rest)))
        case (5, .files(.other)):
            guard rest.count == 0 else { throw MalformedBytes() }
            self = .unchanged
        case (6, .remotes):
            guard rest.count % 32 == 0, rest.count <= Self.maximumRemotes * 32 else { throw MalformedBytes() }
            let bytes = Self.array(rest)
            self = .remotes(
                stride(from: 0, to: bytes.count, by: 32).map { start in
                    RemoteName(vault: Array(bytes[start..<start + 16]), incarnation: Array(bytes[start + 16..<start + 32]))
                })
        case (7, .refresh), (7, .logIn):
            var wire = WireReader(rest)
            let lifetime: UInt32 = try wire.read()
            let access = try wire.secret(upTo: ServerLogin.maximumToken)
            let refresh = try wire.secret(upTo: ServerLogin.maximumToken)
            try wire.end()
            self = .tokens(Tokens(access: access, refresh: refresh, lifetime: lifetime))
        default: throw MalformedBytes()
        }
    }

    private static func array(_ bytes: Span<UInt8>) -> [UInt8] { bytes.withUnsafeBufferPointer { Array($0) } }
}

extension ServerHelperRequest {
    /// Whether the server may take its time.
    var waits: Bool {
        if case .files(.other(_, let seconds)) = self { seconds > 0 } else { false }
    }

    /// Whether 409 says that another copy of this device writes too, or that the remote is there already.
    var canConflict: Bool {
        switch self {
        case .write(_, .head), .write(_, .pack), .found: true
        default: false
        }
    }

    /// The most bytes of an answer.
    var maximumReply: Int {
        let least = ServerHelperReply.maximumRefusal
        return switch self {
        case .files: max(least, 1 + ServerListing.maximumCount)
        case .bytes(let file): max(least, 1 + file.maximumCount)
        case .remotes: 1 + ServerHelperReply.maximumRemotes * 32
        case .refresh, .logIn: ServerHelperReply.maximumTokens
        case .open, .write, .remove, .found, .use, .logOut: least
        }
    }
}

/// 1 ‖ refusal of an online login, 2 log in again, 3 no such remote, 4 conflict, 5 full, or 6 ‖ status (2)
extension ServerRefusal: WireValue {
    func write(to body: inout SecretBuffer) {
        switch self {
        case .online(let refusal): body.write(tag: 1, refusal)
        case .loggedOut: body.write(tag: 2)
        case .missing: body.write(tag: 3)
        case .conflict: body.write(tag: 4)
        case .full: body.write(tag: 5)
        case .refused(let status): body.write(tag: 6, status)
        }
    }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        switch try wire.read(UInt8.self) {
        case 1: self = .online(try wire.read())
        case 2: self = .loggedOut
        case 3: self = .missing
        case 4: self = .conflict
        case 5: self = .full
        case 6: self = .refused(status: try wire.read())
        default: throw MalformedBytes()
        }
    }
}
