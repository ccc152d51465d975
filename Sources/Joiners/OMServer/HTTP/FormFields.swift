#if Server
// The fields of a form: application/x-www-form-urlencoded.

internal import OMSecrets

/// Fields that are there once each. A field that holds a secret is read with ``secret(_:)`` or ``digest(_:)``, never as a text.
struct FormFields {
    /// The position of each value in the body.
    private var values: [String: Range<Int>] = [:]
    private let body: [UInt8]

    /// - Throws: ``ServerProblem/unsupported`` for another type of body, ``ServerProblem/malformed`` if a field is there twice.
    init(of request: ServerRequest) throws(ServerProblem) {
        let type = request.headers["content-type"]?.split(separator: ";").first?.lowercased()
        guard type == "application/x-www-form-urlencoded" else { throw .unsupported }
        body = request.body
        var start = 0
        while start < body.count {
            let end = body[start...].firstIndex(of: UInt8(ascii: "&")) ?? body.count
            if end > start {
                guard let equals = body[start..<end].firstIndex(of: UInt8(ascii: "=")),
                    let name = Self.text(body, start..<equals),
                    // Attack: two proxies read different ones of two fields with one name.
                    values.updateValue(equals + 1..<end, forKey: name) == nil
                else { throw .malformed }
            }
            start = end + 1
        }
    }

    func text(_ name: String) throws(ServerProblem) -> String? {
        guard let range = values[name] else { return nil }
        guard let text = Self.text(body, range) else { throw .malformed }
        return text
    }

    func secret(_ name: String) throws(ServerProblem) -> SecretBytes? {
        guard let range = values[name] else { return nil }
        guard let secret = FormText.decode(secret: body.span.extracting(range)) else { throw .malformed }
        return secret
    }

    /// The digest of a token, as the store has it.
    func digest(_ name: String) throws(ServerProblem) -> [UInt8]? {
        guard let token = try secret(name) else { return nil }
        return TokenText.digest(of: token)
    }

    private static func text(_ body: [UInt8], _ range: Range<Int>) -> String? {
        FormText.decode(body.span.extracting(range))
    }
}
#endif
