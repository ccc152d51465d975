// The provider that asks a profile's server for PAM: the agent's program, in a process that ends after its answer.

internal import Glibc
internal import OMAgent
internal import OMAuth
internal import OMOnlineModel
internal import OMSecrets
internal import OMSystem

enum PamOnlineProvider {
    private static let folder = "/usr/libexec/omvault"
    /// Never a user's agent, nor a program that a variable or a search path leads to.
    private static let program = "\(folder)/\(AgentProcess.programName)"
    private static let longestSecret = 4096

    /// - Parameter seconds: How long the module waits for the answer. Attack: an attacker delays the server's answer for the
    ///   whole time and keeps every user out. So the server gets half of the time, and the cache the rest.
    /// - Returns: nil if there is no server to ask.
    /// - Throws: ``AuthError/online(_:)`` if the server must be asked and cannot be. The caller must not use the cache instead.
    static func provider(for request: LoginRequest, within seconds: UInt32) throws(AuthError) -> OnlineProvider? {
        switch request.profile.serverKind {
        case .none: return nil
        case .unsupported where request.mode == .offline, .oauthClientCredentials where request.mode == .offline: return nil
        case .unsupported, .oauthClientCredentials, .oauthBrowser, .oauthAssertion, .oauthTokenExchange, .certificate:
            throw .online(.failed(.unsupportedGrant))
        case .basic, .oauthResourceOwner, .oamms: break
        }
        do throws(AuthError) { return try provider(request.profile, seconds * 500) } catch {
            // An offline login asks the server only after the last attempt.
            guard request.mode == .offline else { throw error }
            return nil
        }
    }

    private static func provider(_ profile: Profile, _ longest: UInt32) throws(AuthError) -> OnlineProvider {
        guard !profile.couldAnyUserBeServer else { throw .online(.failed(.unsafeAddress)) }
        // Attack: an attacker who can replace the program reads passwords and says yes to them.
        do {
            try PrivateFolder.checkRootOwned(folder)
            try AgentProcess.check(program)
        } catch { throw .online(.failed(.helper)) }
        guard let source = profile.oauthClientSource?.source else {
            return OnlineProvider(program: program, longest: longest)
        }
        guard source.hasPrefix("file:/"), let secret = clientSecret(String(source.dropFirst("file:".count))) else {
            throw .online(.failed(.helper))
        }
        return OnlineProvider(program: program, clientSecret: secret, longest: longest)
    }

    /// The bytes of root's file, without the newline at its end. Nil if another user can change the file or replace it.
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
