// Access to single environment variables. A dictionary of all variables would copy the secrets among them.

internal import COMSystem
internal import Glibc
package import OMSecrets

package enum Environment {
    /// The value of a variable. Nil if it is not set or empty.
    package static func text(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// Erases every `OMVAULT_` variable, the folder of systemd's credentials, and the time zone, which can be any file.
    package static func eraseVariables() {
        let names = ["OMVAULT_", "CREDENTIALS_DIRECTORY", "TZ"]
        guard names.allSatisfy({ om_environment_erase_all($0) == 0 }) else {
            fatalError("omvault: error: the environment could not be erased")
        }
    }

    /// Takes a secret out of a variable. Its bytes in this process's environment are overwritten, so that neither
    /// /proc/PID/environ nor a child process shows them. Nil if the variable is not set.
    package static func takeSecret(_ name: String) -> SecretBytes? {
        guard let value = getenv(name) else { return nil }
        let bytes = UnsafeRawBufferPointer(start: value, count: strlen(value))
        let secret = SecretBytes(copying: bytes.bindMemory(to: UInt8.self).span)
        om_environment_erase(name)
        return secret
    }
}
