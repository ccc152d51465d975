#if Server
// The fields of a form: application/x-www-form-urlencoded.

internal import OMSecrets

/// Fields that are there once each.
struct FormFields {
    private var places: [String: Range<Int>] = [:]
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
                    let name = FormText.decode(body[start..<equals]).flatMap({ String(validating: $0, as: UTF8.self) }),
                    // Attack: two proxies read different ones of two fields with one name.
                    places.updateValue(equals + 1..<end, forKey: name) == nil
                else { throw .malformed }
            }
            start = end + 1
        }
    }

    func text(_ name: String) throws(ServerProblem) -> String? {
        guard let place = places[name] else { return nil }
        guard let bytes = FormText.decode(body[place]), let text = String(validating: bytes, as: UTF8.self) else {
            throw .malformed
        }
        return text
    }

    func secret(_ name: String) throws(ServerProblem) -> SecretBytes? {
        guard let place = places[name] else { return nil }
        guard let bytes = FormText.decode(body[place]) else { throw .malformed }
        return SecretBytes(copying: bytes.span)
    }
}
#endif
