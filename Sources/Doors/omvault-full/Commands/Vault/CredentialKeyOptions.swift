internal import ArgumentParser
internal import OMItems
internal import OMShell
internal import OMVault

/// A credential's key, or `--property-key` and a property's.
struct CredentialKeyOptions: ParsableArguments {
    @Argument(help: "The key of a credential; often a URL.")
    var key: String?

    @Option(help: ArgumentHelp("The key of a property instead.", valueName: "key"))
    var propertyKey: String?

    func validate() throws {
        guard (key == nil) != (propertyKey == nil) else {
            throw ValidationError("give the key of a credential, or --property-key KEY for a property")
        }
    }

    var text: String { propertyKey ?? key ?? "" }
    var noun: String { propertyKey == nil ? "credential" : "property" }

    func name(_ vault: String) throws(Failure) -> ItemName {
        do throws(VaultError) {
            return try CredentialStore<VaultAccess>.itemName(propertyKey == nil ? .credential : .property, text)
        } catch { throw Failure(error, vault: vault) }
    }

    /// The error for a missing key. The vault's own error names the item, and the user knows only the key.
    ///
    /// - Parameter error: The vault's error, with the SDK's number.
    func missing(_ vault: String, _ error: Failure) -> Failure {
        Failure(.notFound, "no \(noun) \"\(text)\" in vault \"\(vault)\"", hint: "omvault credential ls")
            .with(sdkCode: error.sdkCode)
    }
}
