/// Takes the parts of an XML document in their order.
protocol XMLHandler: AnyObject {
    func start(_ name: String, _ attributes: XMLAttributes) throws(InterchangeError)
    /// A piece of the text between two tags.
    func text(_ piece: Span<UInt8>) throws(InterchangeError)
    func end() throws(InterchangeError)
}

/// The attributes of an element, for the time of one call.
struct XMLAttributes {
    /// expat's list: names and values in turn, then NULL.
    let list: UnsafeMutablePointer<UnsafePointer<CChar>?>?

    subscript(name: String) -> String? {
        guard var pair = list else { return nil }
        while let found = pair[0], let value = pair[1] {
            if String(cString: found) == name { return String(cString: value) }
            pair += 2
        }
        return nil
    }

    var isEmpty: Bool { list?[0] == nil }

    /// KeePass writes `True`, and reads other cases too.
    func isTrue(_ name: String) -> Bool { !isEmpty && self[name]?.lowercased() == "true" }
}
