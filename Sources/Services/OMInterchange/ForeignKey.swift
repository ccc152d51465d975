package import OMSecrets

/// What opens an encrypted file of another program.
package struct ForeignKey: ~Copyable, Sendable {
    /// Nil if the file has none. An empty password is not the same as none.
    package let password: SecretBytes?
    /// The whole content of the key file. Nil if there is none.
    package let keyFile: SecretBytes?

    package init(password: consuming SecretBytes?, keyFile: consuming SecretBytes? = nil) {
        self.password = password
        self.keyFile = keyFile
    }
}
