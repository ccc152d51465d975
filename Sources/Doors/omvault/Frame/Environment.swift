// Environment variables one by one: a dictionary of them all would copy a secret that stands among them.

internal import COMSystem
internal import Glibc
internal import OMSecrets

enum Environment {
    /// A variable that is set and not empty.
    static func text(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// Erases every `OMVAULT_` variable, and the folder of systemd's credentials.
    static func eraseVariables() {
        guard om_environment_erase_all("OMVAULT_") == 0, om_environment_erase_all("CREDENTIALS_DIRECTORY") == 0 else {
            fatalError("omvault: error: the environment could not be erased")
        }
    }

    /// A secret variable, taken out: its bytes in our own environment block are overwritten, so that neither
    /// /proc/PID/environ nor a child shows it. Nil when it is not set.
    static func takeSecret(_ name: String) -> SecretBytes? {
        guard let value = getenv(name) else { return nil }
        let bytes = UnsafeRawBufferPointer(start: value, count: strlen(value))
        let secret = SecretBytes(copying: bytes.bindMemory(to: UInt8.self).span)
        om_environment_erase(name)
        return secret
    }
}
