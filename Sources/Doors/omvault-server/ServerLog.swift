#if Server
// The log: a JSON object on each line of standard error. It has no secret, no query and no part of a path that names a vault.

internal import Glibc
internal import OMJSON

enum ServerLog {
    /// - Parameter members: Numbers and short texts.
    static func write(_ event: String, _ members: [String: JSON] = [:]) {
        var all = members
        all["event"] = .string(event)
        all["time"] = .number(String(time(nil)))
        let line = Array((JSON.object(all).serialized + "\n").utf8)
        // One write: lines of several threads do not mix.
        _ = line.withUnsafeBytes { Glibc.write(2, $0.baseAddress, $0.count) }
    }

    /// The first two parts of a path: they are names of this server, or of no one. Others can be names of people and vaults.
    static func route(_ path: [String]) -> String {
        let known: Set = [
            "v1", "sync", "profiles", "oauth2", "token", "revoke", "introspect", ".well-known", "omvault",
            "oauth-authorization-server", "oic_rest", "idaas_rest", "rest", "healthz",
        ]
        return "/" + path.prefix(2).map { known.contains($0) ? $0 : "*" }.joined(separator: "/")
    }
}
#endif
