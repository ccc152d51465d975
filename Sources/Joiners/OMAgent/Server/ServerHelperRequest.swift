// What a server's helper is asked. Format: docs/formats/sync.md, "The server's helper".

internal import OMAgentProtocol
package import OMParcels
internal import OMRecords
package import OMSecrets

package enum ServerHelperRequest: Sendable {
    /// The first request, and no later one.
    case open(Opening)
    case files(ListChoice)
    case bytes(RemoteFile)
    case write([UInt8], RemoteFile)
    case remove(RemoteFile)
    /// Makes the remote with entry 0 of the roll.
    case found([UInt8])
    /// The remotes of the vault, or of the account if the vault is not known.
    case remotes
    /// The access token of all later requests.
    case use(HeldSecret)
    /// Other tokens for a refresh token.
    case refresh(HeldSecret)
    /// Tokens for the password of an account.
    case logIn(user: String, password: HeldSecret, device: String)
    /// Ends the login of a refresh token.
    case logOut(HeldSecret)

    /// Which list of files the answer has.
    package enum ListChoice: Hashable, Sendable {
        case any
        /// One with another change than this. If there is none, the server waits for it, for some seconds.
        case other(than: UInt64, waiting: UInt8 = 0)
    }

    /// How long a server may be asked to wait, in seconds.
    package static let longestWait: UInt8 = 50

    /// The remote that a helper serves.
    package struct Opening: Hashable, Sendable {
        /// `https://HOST[:PORT][/PATH]`
        package let url: String
        /// 16 bytes, like the incarnation. Zeros if the remote is not known yet.
        package let vault: [UInt8]
        package let incarnation: [UInt8]
        /// The only trusted certificates, as PEM. Empty: those of the system.
        package let trusted: [UInt8]

        static let maximumURL = 1024

        /// Nil for an address that no remote can have.
        init?(url: String, vault: [UInt8], incarnation: [UInt8], trusted: [UInt8]) {
            precondition(vault.count == 16 && incarnation.count == 16, "fixed sizes")
            guard (1...Self.maximumURL).contains(url.utf8.count), trusted.count <= ServerLogin.maximumTrusted else { return nil }
            (self.url, self.vault, self.incarnation, self.trusted) = (url, vault, incarnation, trusted)
        }
    }

    /// The most bytes of a request: the largest file, its path, and more than what is around them.
    static let maximumCount = Pack.maximumCount + (8 << 10)
    /// The most bytes of an account's password.
    static let maximumPassword = 64 << 10

    /// The message of a request without a secret. Nil for one with a secret.
    var encoded: [UInt8]? {
        switch self {
        case .open(let opening):
            var message: [UInt8] = [1] + opening.vault + opening.incarnation
            message.append(number: UInt16(opening.url.utf8.count))
            return message + Array(opening.url.utf8) + opening.trusted
        case .files(.any): return [2]
        case .files(.other(let change, let seconds)):
            var message: [UInt8] = [2]
            message.append(number: change)
            return message + [seconds]
        case .bytes(let file): return [3] + Array(file.path.utf8)
        case .write(let bytes, let file):
            let path = Array(file.path.utf8)
            var message: [UInt8] = [4]
            message.append(number: UInt16(path.count))
            return message + path + bytes
        case .remove(let file): return [5] + Array(file.path.utf8)
        case .found(let bytes): return [6] + bytes
        case .remotes: return [7]
        case .use, .refresh, .logIn, .logOut: return nil
        }
    }

    /// The message of a request with a secret. Nil for one without.
    var secretMessage: SecretBytes? {
        var message = SecretBuffer()
        switch self {
        case .use(let token):
            message.append(8)
            message.append(token.bytes)
        case .refresh(let token):
            message.append(9)
            message.append(token.bytes)
        case .logIn(let user, let password, let device):
            message.append(10)
            message.write(user, device)
            message.append(password.bytes)
        case .logOut(let token):
            message.append(11)
            message.append(token.bytes)
        default: return nil
        }
        return message.finish()
    }

    init(decoding message: [UInt8]) throws(MalformedBytes) {
        let span = message.span
        var cursor = ByteCursor()
        switch try cursor.number(UInt8.self, in: span) {
        case 1:
            let (vault, incarnation) = (try cursor.take(16, in: span), try cursor.take(16, in: span))
            let url = try cursor.text(Int(try cursor.number(UInt16.self, in: span)), in: span)
            let trusted = try cursor.rest(upTo: ServerLogin.maximumTrusted, in: span)
            guard let opening = Opening(url: url, vault: vault, incarnation: incarnation, trusted: trusted) else {
                throw MalformedBytes()
            }
            self = .open(opening)
        case 2 where span.count == 1: self = .files(.any)
        case 2:
            let wanted = ListChoice.other(than: try cursor.number(in: span), waiting: try cursor.number(in: span))
            guard case .other(_, 0...Self.longestWait) = wanted else { throw MalformedBytes() }
            self = .files(wanted)
        case 3: self = .bytes(try cursor.remoteFile(span.count - cursor.offset, in: span))
        case 4:
            let file = try cursor.remoteFile(Int(try cursor.number(UInt16.self, in: span)), in: span)
            self = .write(try cursor.rest(upTo: file.maximumCount, in: span), file)
        case 5: self = .remove(try cursor.remoteFile(span.count - cursor.offset, in: span))
        case 6: self = .found(try cursor.rest(upTo: RemoteFile.founding.maximumCount, in: span))
        case 7: self = .remotes
        case 8: self = .use(HeldSecret(copying: try cursor.rest(upTo: ServerLogin.maximumToken, in: span)))
        case 9: self = .refresh(HeldSecret(copying: try cursor.rest(upTo: ServerLogin.maximumToken, in: span)))
        case 10:
            let user = try cursor.text(Int(try cursor.number(UInt16.self, in: span)), in: span)
            let device = try cursor.text(Int(try cursor.number(UInt16.self, in: span)), in: span)
            let password = HeldSecret(copying: try cursor.rest(upTo: Self.maximumPassword, in: span))
            self = .logIn(user: user, password: password, device: device)
        case 11: self = .logOut(HeldSecret(copying: try cursor.rest(upTo: ServerLogin.maximumToken, in: span)))
        default: throw MalformedBytes()
        }
        try cursor.end(in: span)
    }
}

/// A secret in a value that can be copied.
package final class HeldSecret: Sendable {
    package let bytes: SecretBytes

    package init(_ bytes: consuming SecretBytes) { self.bytes = bytes }

    convenience init(copying bytes: [UInt8]) { self.init(SecretBytes(copying: bytes)) }
}
