// HMAC-SHA-256 through the bedrock's own code.

internal import OMSecrets

/// HMAC-SHA-256, cut to the tag's length; `count` is the length that the file's parameters promise.
struct HMACCheck: Check {
    let key: [UInt8]
    let message: [UInt8]
    let tag: [UInt8]
    let count: Int

    func run() -> Outcome {
        guard tag.count == count else { return .refused("the tag has not \(count) bytes") }
        let full = HMACSHA256.tag(keyBytes: key.span) { $0(message.span) }
        let agrees = full.withBytes { ConstantTime.areEqual($0.extracting(0..<count), tag.span) }
        return agrees ? .agrees : .differs("the tag is another")
    }
}

enum HMACKinds {
    static let all = [wycheproof, native, acvp, text]

    private static let wycheproof = Kind.wycheproof("MacTest") { (group) throws(Unreadable) in
        guard group.algorithm == "HMACSHA256" else { return nil }
        return plan(tagBits: try group.parameters.number("tagSize"), tag: "tag")
    }

    private static let native = Kind.native(
        "hmac", params: ["hash", "tagBits"], test: ["key", "msg", "tag"]
    ) { (group) throws(Unreadable) in
        guard try group.parameters.text("hash") == "sha256" else { return nil }
        return plan(tagBits: try group.parameters.number("tagBits"), tag: "tag")
    }

    private static let acvp = Kind.acvp(["HMAC-SHA2-256"]) { (group) throws(Unreadable) in
        guard group.type == "AFT" else { return .skip("ACVP test type \(group.type.prefix(20))") }
        return plan(tagBits: try group.parameters.number("macLen"), tag: "mac")
    }

    /// RFC 4231 as Python's `cryptography` has it.
    private static let text = Kind.text(
        TextLayout(
            name: "HMAC-SHA-256",
            matches: { head in
                head.startsWith(["Len", "Key", "Msg", "MD"]) && head.comments.contains { $0.hasSuffix("HMAC-SHA256") }
            }, shapes: ["Len Key Msg MD"])
    ) { (group) throws(Unreadable) in
        .each(flips: ["Key", "Msg", "MD"]) { (record, _) throws(Unreadable) in
            let (bits, message) = (try record.number("Len"), try record.bytes("Msg"))
            guard message.count * 8 == bits else { throw record.wrong("Msg", "the \(bits) bits of Len") }
            return .run(
                HMACCheck(
                    key: try record.bytes("Key"), message: message, tag: try record.bytes("MD"), count: 32))
        }
    }

    private static func plan(tagBits: Int, tag: String) -> GroupPlan {
        guard tagBits % 8 == 0, (8...256).contains(tagBits) else { return .skip("tags of \(tagBits) bits") }
        return .each(flips: ["key", "msg", tag]) { (test, _) throws(Unreadable) in
            .run(
                HMACCheck(
                    key: try test.bytes("key"), message: try test.bytes("msg"), tag: try test.bytes(tag),
                    count: tagBits / 8))
        }
    }
}
