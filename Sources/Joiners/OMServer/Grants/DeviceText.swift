#if Server
// The name that a device gives itself at a login: 1 to 63 bytes without control characters.

struct DeviceText {
    let text: String

    init?(_ text: String) {
        guard (1...63).contains(text.utf8.count),
            text.unicodeScalars.allSatisfy({ ![.control, .format].contains($0.properties.generalCategory) })
        else { return nil }
        self.text = text
    }
}
#endif
