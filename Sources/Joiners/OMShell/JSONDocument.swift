// JSON documents, written member by member into locked memory. So a secret in a document is never a String.

package import OMJSON
package import OMSecrets

/// One JSON object: a whole document, or a member of one.
///
///     var document = JSONDocument()
///     document.field("name", .text(item.name))
///     document.secret("password", password)
///     try context.output.document(document)
package struct JSONDocument: ~Copyable {
    private var bytes = SecretBuffer(capacity: 1024)
    private var isEmpty = true

    /// - Parameter schema: The version of the members. Nil for an error, which has none.
    package init(schema: String? = "omvault/1") {
        append("{")
        if let schema { field("schema", .text(schema)) }
    }

    package mutating func field(_ name: String, _ value: JSONValue) {
        startMember(name)
        append(value)
    }

    /// The secret as a string if it is UTF-8. Otherwise an object with the one member `base64`.
    package mutating func secret(_ name: String, _ value: borrowing SecretBytes) {
        guard value.withBytes({ (try? UTF8Span(validating: $0)) != nil }) else {
            return object(name) { $0.secret("base64", Base64.encode(value)) }
        }
        startMember(name)
        let encoded = value.duplicate()
        encoded.withBytes { bytes in
            guard let text = try? UTF8Span(validating: bytes) else { return }
            append(quoting: text)
        }
    }

    /// An object in place of a secret that the user did not ask for.
    package mutating func concealed(_ name: String, count: Int) {
        object(name) { place in
            place.field("concealed", .flag(true))
            place.field("len", .number(count))
        }
    }

    package mutating func object<E: Error>(_ name: String, _ body: (inout JSONDocument) throws(E) -> Void) throws(E) {
        startMember(name)
        try nested(body)
    }

    /// A value that was read from JSON.
    package mutating func json(_ name: String, _ value: JSON) {
        startMember(name)
        append(value)
    }

    /// A list with one object for each element.
    package mutating func objects<Elements: Sequence, E: Error>(
        _ name: String, _ elements: Elements, _ body: (Elements.Element, inout JSONDocument) throws(E) -> Void
    ) throws(E) {
        startMember(name)
        append("[")
        var isFirst = true
        for element in elements {
            if !isFirst { append(",") }
            isFirst = false
            try nested { (object) throws(E) in try body(element, &object) }
        }
        append("]")
    }

    /// The document and a newline.
    package consuming func finish() -> SecretBytes {
        append("}\n")
        return bytes.finish()
    }
}

extension JSONDocument {
    private mutating func nested<E: Error>(_ body: (inout JSONDocument) throws(E) -> Void) throws(E) {
        append("{")
        isEmpty = true
        try body(&self)
        isEmpty = false
        append("}")
    }

    private mutating func startMember(_ name: String) {
        if !isEmpty { append(",") }
        isEmpty = false
        append(quoting: name.utf8Span)
        append(":")
    }

    private mutating func append(_ value: JSONValue) {
        switch value {
        case .text(let text): append(quoting: text.utf8Span)
        case .time(let seconds): append(quoting: Timestamp.text(seconds).utf8Span)
        case .number(let number): append(String(number))
        case .decimal(let number): append(String(number))
        case .flag(let flag): append(flag ? "true" : "false")
        case .null: append("null")
        case .list(let values):
            append("[")
            for (index, value) in values.enumerated() {
                if index > 0 { append(",") }
                append(value)
            }
            append("]")
        }
    }

    private mutating func append(_ value: JSON) {
        switch value {
        case .null: append("null")
        case .bool(let flag): append(flag ? "true" : "false")
        case .number(let digits): append(digits)
        case .string(let text): append(quoting: text.utf8Span)
        case .array(let elements):
            append("[")
            for (index, element) in elements.enumerated() {
                if index > 0 { append(",") }
                append(element)
            }
            append("]")
        case .object(let members):
            nested { object in
                for (name, value) in members.sorted(by: { $0.key < $1.key }) { object.json(name, value) }
            }
        }
    }

    private mutating func append(_ text: String) {
        bytes.append(text.utf8Span.span)
    }

    /// Also escapes all characters that a terminal would obey, which JSON does not require.
    private mutating func append(quoting text: UTF8Span) {
        append("\"")
        var scalars = text.makeUnicodeScalarIterator()
        var plainStart = 0
        var position = 0
        while let scalar = scalars.next() {
            let end = scalars.currentCodeUnitOffset
            if scalar == "\"" || scalar == "\\" || scalar.isUnsafeToShow {
                bytes.append(text.span.extracting(plainStart..<position))
                append(escape(scalar))
                plainStart = end
            }
            position = end
        }
        bytes.append(text.span.extracting(plainStart..<position))
        append("\"")
    }

    private func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\"": return "\\\""
        case "\\": return "\\\\"
        case "\n": return "\\n"
        case "\t": return "\\t"
        default: return JSONText.escaped(scalar)
        }
    }
}
