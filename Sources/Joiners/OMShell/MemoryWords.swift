// The notice about memory for secrets.

package import OMSecrets

extension SecretMemory {
    /// The system locks no memory of this process.
    package static let unlockedWords =
        "this system refused to lock memory, so secrets could be written to swap (ulimit -l)"
}
