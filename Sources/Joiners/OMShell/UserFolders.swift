// The folders of omvault's files, by the XDG base directory specification.

internal import OMSystem

/// The folders of one user. Nothing is created here.
package struct UserFolders: Sendable {
    /// `$XDG_DATA_HOME/omvault`: the vaults.
    package let vaults: String
    /// `$XDG_STATE_HOME/omvault`: the login ledger.
    package let state: String
    /// `$XDG_STATE_HOME/omvault-device`: the device key and the high-water files, mode 0700.
    package let device: String
    /// `$XDG_CONFIG_HOME/omvault`: the configuration and the profiles.
    package let configuration: String

    package var loginLedger: String { "\(state)/logins.db" }
    package var profiles: String { "\(configuration)/profiles" }

    /// - Throws: ``ExitStatus/config`` if a folder depends on `HOME`, and `HOME` is not an absolute path.
    package init(_ variable: (String) -> String? = Environment.text) throws(Failure) {
        func folder(_ name: String, inHome fallback: String) throws(Failure) -> String {
            guard let path = FilePath.userFolder(name, inHome: fallback, variable) else {
                throw Failure(
                    .config, "HOME is not set to an absolute path", hint: "set HOME, or \(name) to an absolute path")
            }
            return path
        }
        vaults = try folder("XDG_DATA_HOME", inHome: ".local/share") + "/omvault"
        // Attack, or accident: a service unlocks a vault under another spelling of this folder. Then `omvault lock` and `logout`
        // do not find the vault in the agent. So the path is resolved here.
        let states = AbsolutePath.resolved(try folder("XDG_STATE_HOME", inHome: ".local/state"))
        state = states + "/omvault"
        device = states + "/omvault-device"
        configuration = try folder("XDG_CONFIG_HOME", inHome: ".config") + "/omvault"
    }

    package func profile(_ name: String) -> String { "\(profiles)/\(name).json" }
}
