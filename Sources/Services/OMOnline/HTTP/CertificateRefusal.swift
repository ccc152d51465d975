// What a server that refuses a client's certificate says. In TLS 1.3 it says so after the client's handshake is complete: by an alert
// in place of an answer, or by a status.

internal import NIOSSL
internal import OMJSON
internal import OMOnlineModel

enum CertificateRefusal {
    /// nginx's own statuses for a certificate that is wrong or missing. nginx shows them as 400.
    private static let statuses: Set<Int> = [495, 496]

    /// The alerts of RFC 8446, 6.2, that speak of the client's certificate or its signature, as BoringSSL spells them.
    private static let alerts = [
        "ALERT_BAD_CERTIFICATE", "ALERT_UNSUPPORTED_CERTIFICATE", "ALERT_CERTIFICATE_REVOKED", "ALERT_CERTIFICATE_EXPIRED",
        "ALERT_CERTIFICATE_UNKNOWN", "ALERT_CERTIFICATE_REQUIRED", "ALERT_NO_CERTIFICATE", "ALERT_UNKNOWN_CA",
        "ALERT_ACCESS_DENIED", "ALERT_DECRYPT_ERROR",
    ]

    /// The refusal in an error of a connection where a certificate may be shown. Nil if the error says nothing about that.
    ///
    /// - Parameter allowsTLS12: There a server without a certificate of the client ends the handshake with no word of it.
    static func read(_ error: any Error, allowsTLS12: Bool) -> OnlineRefusal? {
        // The library gives the reason as text only.
        let text: String
        switch error {
        case NIOSSLError.handshakeFailed(let reason): text = "\(reason)"
        case let error as BoringSSLError: text = "\(error)"
        default: return nil
        }
        if alerts.contains(where: text.contains) { return .failed(.certificateRefused) }
        if allowsTLS12 { return text.contains("ALERT_HANDSHAKE_FAILURE") ? .failed(.certificateRefused) : nil }
        return text.contains("ALERT_PROTOCOL_VERSION") || text.contains("UNSUPPORTED_PROTOCOL") ? .failed(.oldTLS) : nil
    }

    /// Whether the answer refuses the certificate that the client showed, in every protocol.
    ///
    /// 400 has other reasons too. OAuth's has JSON in its body; that of nginx speaks of the certificate.
    static func isIn(_ answer: HTTPResponse) -> Bool {
        if statuses.contains(answer.status) { return true }
        guard answer.status == 400, JSON(answer: answer.body) == nil else { return false }
        return String(decoding: answer.body.prefix(64 << 10), as: UTF8.self).lowercased().contains("certificate")
    }
}
