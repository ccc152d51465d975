internal import ArgumentParser

/// A form in which `omvault token get` prints an access token.
enum TokenFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// The token alone, without a newline.
    case raw
    /// A line for `curl -H @-`.
    case header
    /// A line for `curl -K -`.
    case curl
    case json
    /// A line that a shell reads.
    case env
}
