// The reader of sign.input from the Ed25519 paper. Each line is `seed‖pk : pk : message : signature‖message :` in hex.

enum SignInputReader {
    private static let names = ["secretAndPublic", "public", "message", "signatureAndMessage"]

    static func isSignInput(_ text: String) -> Bool {
        let line = text.prefix(1 << 12).prefix { !$0.isNewline }.utf8
        return line.prefix { $0 != UInt8(ascii: ":") }.count == 128 && line.count { $0 == UInt8(ascii: ":") } == 4
    }

    static func read(_ text: String) throws(UnreadableFile) -> ParsedVectors {
        var records: [VectorRecord] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            guard !line.isEmpty else { continue }
            let parts = line.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 5, parts[4].isEmpty else {
                throw UnreadableFile("line \(index + 1): not four fields, each with a colon after it")
            }
            let fields = Fields(text: zip(names, parts).map { ($0, String($1), index + 1) }, at: index + 1)
            let (secret, open) = (try fields.bytes(names[0], count: 64), try fields.bytes(names[1], count: 32))
            let (message, signed) = (try fields.bytes(names[2]), try fields.bytes(names[3]))
            guard Array(secret.suffix(32)) == open, signed.count == 64 + message.count,
                Array(signed.dropFirst(64)) == message
            else { throw UnreadableFile("line \(index + 1): the fields contradict each other") }
            records.append(VectorRecord(id: "line \(index + 1)", fields: fields))
        }
        let group = VectorGroup(
            algorithm: "Ed25519", title: "Ed25519", parameters: Fields(text: [], at: 1))
        var reading = ParsedVectors(.signInput)
        try reading.add(records, of: group, try VectorKindList.signInput(group))
        return reading
    }
}
