// The server of a profile, as far as PAM may ask it: through the agent's program, in a process that ends with its answer.

internal import Glibc
internal import OMAgent
internal import OMAuth
internal import OMOnlineModel
internal import OMSecrets
internal import OMSystem

enum PamOnlineProvider {
    private static let folder = "/usr/libexec/omvault"
    /// No user's agent, and none that a variable or a search path leads to.
    private static let program = "\(folder)/\(AgentProcess.programName)"
    private static let longestSecret = 4096

    /// - Parameter seconds: The module's patience. Attack: a server that is kept from answering for so long keeps everybody
    ///   out. So it gets half of it, and the cache the rest.
    /// - Returns: nil where nobody is to be asked.
    /// - Throws: ``AuthError/online(_:)`` where the server would have to be asked and cannot be: that is no reason to look
    ///   at the cache instead.
    static func provider(for request: LoginRequest, within seconds: UInt32) throws(AuthError) -> OnlineProvider? {
        switch request.profile.serverKind {
        case .none: return nil
        case .unsupported where request.mode == .offline: return nil
        case .unsupported: throw .online(.failed(.unsupportedGrant))
        case .basic, .oauthResourceOwner: break
        }
        do throws(AuthError) { return try provider(request.profile, seconds * 500) } catch {
            // Offline the server is asked after the last attempt only.
            guard request.mode == .offline else { throw error }
            return nil
        }
    }

    private static func provider(_ profile: Profile, _ longest: UInt32) throws(AuthError) -> OnlineProvider {
        guard !profile.couldAnyUserBeServer else { throw .online(.failed(.unsafeAddress)) }
        // Attack: whoever can put another program there reads passwords, and says yes to them.
        do {
            try PrivateFolder.checkRootOwned(folder)
            try AgentProcess.check(program)
        } catch { throw .online(.failed(.helper)) }
        guard let source = profile.oauthClientSecretSource else {
            return OnlineProvider(program: program, longest: longest)
        }
        guard source.hasPrefix("file:/"), let secret = clientSecret(String(source.dropFirst("file:".count))) else {
            throw .online(.failed(.helper))
        }
        return OnlineProvider(program: program, clientSecret: secret, longest: longest)
    }

    /// What root has put into a file, without the newline at its end. Nobody else may be able to change the file, or to put
    /// another one in its place.
    private static func clientSecret(_ path: String) -> SecretBytes? {
        do throws(StorageError) { try PrivateFolder.checkRootOwned(FilePath.folder(of: path)) } catch { return nil }
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        guard let status = try? FileTrust.writable(by: [0]).check(open: file, .file, at: path),
            (1...longestSecret).contains(Int(status.st_size))
        else { return nil }
        var last: UInt8 = 0
        guard pread(file, &last, 1, status.st_size - 1) == 1 else { return nil }
        let count = Int(status.st_size) - (last == UInt8(ascii: "\n") ? 1 : 0)
        guard count > 0 else { return nil }
        var isWhole = true
        let secret = SecretBytes(count: count) { (bytes: inout MutableSpan<UInt8>) in
            bytes.withUnsafeMutableBytes { isWhole = pread(file, $0.baseAddress, $0.count, 0) == $0.count }
        }
        guard isWhole else { return nil }
        return secret
    }
}
