// Where the login at a server is kept. Format: docs/formats/sync.md, "Over HTTP".

package import OMItems
package import OMParcels

/// Keeps the login at the server of one remote.
package protocol ServerLoginKeeper: AnyObject {
    /// Nil if there is none: the user has to log in.
    func login() throws(VaultError) -> ServerLogin?

    /// Notes the tokens that a refresh gave. They are not used before.
    func keep(_ login: ServerLogin) throws(VaultError)

    /// Runs a refresh, while no other process of this device has one.
    ///
    /// Accident: two processes use the same refresh token. To the server that is a thief beside the device.
    func refreshing<R>(_ body: () -> R) throws(VaultError) -> R
}

/// A login that is not in a vault: there is none yet.
package final class HeldServerLogin: ServerLoginKeeper {
    private var held: ServerLogin

    package init(_ login: ServerLogin) { held = login }

    package func login() -> ServerLogin? { held }

    package func keep(_ login: ServerLogin) { held = login }

    package func refreshing<R>(_ body: () -> R) -> R { body() }
}
