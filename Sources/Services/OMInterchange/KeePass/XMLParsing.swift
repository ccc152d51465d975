// XML from elsewhere, read by expat: UTF-8, no document type, bounded depth.

internal import CExpat
internal import OMSecrets

/// One document on its way to a handler.
final class XMLParsing {
    private let parser: OpaquePointer
    private let handler: any XMLHandler
    private var depth = 0
    private var problem: InterchangeError?

    /// KeePass has four levels around the outermost group, and at most six inside an entry.
    private static let mostLevels = 120

    init(for handler: any XMLHandler) {
        guard let parser = XML_ParserCreate("UTF-8") else { fatalError("out of memory for XML") }
        self.parser = parser
        self.handler = handler
        XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        XML_SetElementHandler(
            parser,
            { user, name, attributes in
                guard let name else { return }
                XMLParsing.of(user)?.start(String(cString: name), XMLAttributes(list: attributes))
            },
            { user, _ in XMLParsing.of(user)?.end() })
        XML_SetCharacterDataHandler(parser) { user, text, count in
            guard let text else { return }
            XMLParsing.of(user)?.text(UnsafeBufferPointer(start: text, count: Int(count)))
        }
        // Attack: entities that contain entities grow a small file to gigabytes, and an external entity reads another file.
        // Without a document type there are none.
        XML_SetStartDoctypeDeclHandler(parser) { user, _, _, _, _ in
            XMLParsing.of(user)?.fail(.damaged("a document type, which the format does not have"))
        }
        XML_SetXmlDeclHandler(parser) { user, _, encoding, _ in
            guard let encoding, String(cString: encoding).lowercased() != "utf-8" else { return }
            XMLParsing.of(user)?.fail(.damaged("the encoding of its XML, which is not UTF-8"))
        }
    }

    deinit { XML_ParserFree(parser) }

    /// - Parameter piece: At most 1 GiB.
    func parse(_ piece: Span<UInt8>, isLast: Bool) throws(InterchangeError) {
        let status = piece.withPointer { bytes, count in
            bytes.withMemoryRebound(to: CChar.self, capacity: count) {
                XML_Parse(parser, $0, Int32(count), isLast ? 1 : 0)
            }
        }
        if let problem { throw problem }
        guard status == XML_STATUS_OK else {
            throw XML_GetErrorCode(parser) == XML_ERROR_NO_MEMORY ? .tooMuch("bytes of XML") : .damaged("its XML")
        }
    }

    private static func of(_ user: UnsafeMutableRawPointer?) -> XMLParsing? {
        guard let user else { return nil }
        let parsing = Unmanaged<XMLParsing>.fromOpaque(user).takeUnretainedValue()
        // expat calls the end of an empty element after a stop in its start.
        return parsing.problem == nil ? parsing : nil
    }

    private func start(_ name: String, _ attributes: XMLAttributes) {
        depth += 1
        guard depth <= Self.mostLevels else { return fail(.tooMuch("levels of XML")) }
        do throws(InterchangeError) { try handler.start(name, attributes) } catch { fail(error) }
    }

    private func end() {
        depth -= 1
        do throws(InterchangeError) { try handler.end() } catch { fail(error) }
    }

    private func text(_ text: UnsafeBufferPointer<CChar>) {
        text.withMemoryRebound(to: UInt8.self) { bytes in
            do throws(InterchangeError) { try handler.text(bytes.span) } catch { fail(error) }
        }
    }

    private func fail(_ error: InterchangeError) {
        problem = problem ?? error
        XML_StopParser(parser, 0)
    }
}
