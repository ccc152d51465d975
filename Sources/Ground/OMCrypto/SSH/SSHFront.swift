// An extension of omvault's own: a second start asks the front that runs what it does.

/// What a front of an ssh-agent does.
package struct SSHFront: Hashable, Sendable {
    static let name = "front@omvault"

    /// The path of its vault.
    let vault: [UInt8]
    /// Whether each signature needs a yes.
    package let confirmsAll: Bool

    package init(vault: [UInt8], confirmsAll: Bool) { (self.vault, self.confirmsAll) = (vault, confirmsAll) }

    /// Whether this front can be used where `wanted` is asked for. It may ask more often than wanted.
    package func serves(_ wanted: SSHFront) -> Bool { vault == wanted.vault && (confirmsAll || !wanted.confirmsAll) }

    /// The whole message that asks for it, with its length.
    package var question: [UInt8] {
        var writer = SSHWriter()
        writer.bytes([27].span)
        writer.text(Self.name)
        writer.string(vault.span)
        writer.bytes([confirmsAll ? 1 : 0].span)
        let body = writer.bytes()
        var message = SSHWriter()
        message.string(body.span)
        return message.bytes()
    }
}
