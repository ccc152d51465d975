internal import OMAuth

/// An access token, and whose it is.
struct KnownToken: ~Copyable {
    let login: LoginReference
    let access: AccessToken
}
