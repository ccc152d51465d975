// The fields of an item's sections in 1Password's export. Each has one value of a kind of its own.

internal import OMJSON
internal import OMSecrets

struct OnePasswordFields {
    /// The item's category: the fields of some have names of their own here.
    private let category: String
    private(set) var fields: [ForeignField] = []
    private(set) var losses: [ForeignLoss] = []
    /// The attached files, each with its place among the fields.
    private(set) var attachments: [(place: Int, file: OnePasswordFile)] = []
    /// The titles of the fields so far.
    private var titles: Set<String> = []

    init(category: String) { self.category = category }

    mutating func add(_ section: JSONRanges, _ bytes: Span<UInt8>) {
        let heading = section["title"]?.text(in: bytes) ?? ""
        var isNamed = heading.isEmpty
        for field in section["fields"]?.elements ?? [] {
            for (kind, value) in field["value"]?.members ?? [] where !value.isNothing {
                var name = field["title"]?.text(in: bytes) ?? ""
                if name.isEmpty { name = field["id"]?.text(in: bytes) ?? "" }
                // Two fields of one title have different sections.
                if !titles.insert(name).inserted, !heading.isEmpty {
                    name = "\(heading) \(name)"
                    isNamed = true
                }
                add(kind, value, name, id: field["id"]?.text(in: bytes) ?? "", in: bytes)
            }
        }
        if !isNamed { losses.append(.unneeded("section \"\(heading)\"")) }
    }

    private mutating func add(_ kind: String, _ value: JSONRanges, _ name: String, id: String, in bytes: Span<UInt8>) {
        switch kind {
        case "concealed", "creditCardNumber": put(value, own(name, id), role(id), isConcealed: true, in: bytes)
        case "string", "url", "phone", "menu", "gender", "creditCardType":
            put(value, own(name, id), role(id), isConcealed: false, in: bytes)
        case "totp":
            guard let secret = value.secret(in: bytes) else { return losses.append(.member(name)) }
            fields.append(ForeignField("", .otp, isConcealed: true, ForeignOTP.address(secret)))
        case "email": addEmail(value, name, bytes)
        case "date": add(number: value, own(name, id), OnePasswordDate.day, bytes)
        case "monthYear": add(number: value, own(name, id), OnePasswordDate.month, bytes)
        case "address": addAddress(value, name, bytes)
        case "file": attachments.append((fields.count, OnePasswordFile(value, name, bytes)))
        case "sshKey": addKey(value, name, bytes)
        // The other item has another name here.
        case "reference": losses.append(.member("link \(name)"))
        default: addAll(value, name, bytes)
        }
    }

    /// The usual name here of a field that an item of this category always has.
    private func own(_ name: String, _ id: String) -> String { Self.names[category]?[id] ?? name }

    private static let names = [
        "002": ["cardholder": "holder", "ccnum": "number", "cvv": "code", "expiry": "expires", "pin": "pin"],
        "102": ["hostname": "host", "port": "port"],
        "112": ["credential": "key"],
    ]

    private func role(_ id: String) -> ForeignField.Role {
        guard ["102", "110", "112"].contains(category) else { return .other }
        return switch id {
        case "username": .username
        case "password": .password
        case "url": .url
        default: .other
        }
    }

    private mutating func put(
        _ value: JSONRanges, _ name: String, _ role: ForeignField.Role, isConcealed: Bool,
        in bytes: Span<UInt8>
    ) {
        guard let secret = value.secret(in: bytes) else { return addAll(value, name, bytes) }
        fields.append(ForeignField(name, role, isConcealed: isConcealed, secret))
    }

    /// A text, or an object with the address and its provider.
    private mutating func addEmail(_ value: JSONRanges, _ name: String, _ bytes: Span<UInt8>) {
        guard let address = value["email_address"] else {
            guard !value.isNothing, value.members.isEmpty else { return addAll(value, name, bytes) }
            return put(value, "", .email, isConcealed: false, in: bytes)
        }
        if !address.isNothing { put(address, "", .email, isConcealed: false, in: bytes) }
        for (member, part) in value.members where member != "email_address" { addAll(part, "\(name) \(member)", bytes) }
    }

    private mutating func add(
        number value: JSONRanges, _ name: String, _ text: (Int) -> String?, _ bytes: Span<UInt8>
    ) {
        guard let number = value.number(in: bytes), let words = text(number) else { return addAll(value, name, bytes) }
        fields.append(ForeignField(name, .other, isConcealed: false, ForeignText.value(words)))
    }

    /// One text of several lines.
    private mutating func addAddress(_ value: JSONRanges, _ name: String, _ bytes: Span<UInt8>) {
        let usual = ["street", "zip", "city", "state", "country"]
        let lines = usual.compactMap { value[$0]?.text(in: bytes) }.filter { !$0.isEmpty }
        if !lines.isEmpty {
            let text = ForeignText.value(lines.joined(separator: "\n"))
            fields.append(ForeignField(name, .other, isConcealed: false, text))
        }
        guard !value.members.isEmpty else { return addAll(value, name, bytes) }
        for (member, part) in value.members {
            if usual.contains(member), part.text(in: bytes) != nil { continue }
            addAll(part, "\(name) \(member)", bytes)
        }
    }

    /// The private key, and what 1Password tells of it.
    private mutating func addKey(_ value: JSONRanges, _ name: String, _ bytes: Span<UInt8>) {
        guard let key = value["privateKey"], !key.isNothing else { return addAll(value, name, bytes) }
        put(key, "private-key", .other, isConcealed: true, in: bytes)
        let facts = value["metadata"]
        for (member, part) in facts?.members ?? [] where !part.isNothing {
            switch member {
            case "publicKey": put(part, "public-key", .other, isConcealed: false, in: bytes)
            case "privateKey" where isSame(part, key, bytes): break
            // Both follow from the key.
            case "fingerprint", "keyType": losses.append(.unneeded(member))
            default: addAll(part, "\(name) \(member)", bytes)
            }
        }
        for (member, part) in value.members where member != "privateKey" && member != "metadata" {
            addAll(part, "\(name) \(member)", bytes)
        }
    }

    private func isSame(_ one: JSONRanges, _ other: JSONRanges, _ bytes: Span<UInt8>) -> Bool {
        guard let one = one.secret(in: bytes), let other = other.secret(in: bytes) else { return false }
        return one.isEqual(to: other)
    }

    /// A value of a kind that is not known: each text in it is a concealed field, so that nothing of a later 1Password is lost.
    private mutating func addAll(_ value: JSONRanges, _ name: String, _ bytes: Span<UInt8>) {
        if let secret = value.secret(in: bytes) {
            fields.append(ForeignField(name, .other, isConcealed: true, secret))
            return
        }
        for (member, part) in value.members where !part.isNothing { addAll(part, "\(name) \(member)", bytes) }
        for part in value.elements where !part.isNothing { addAll(part, name, bytes) }
    }
}
