// The dates in 1Password's export: seconds since 1970, and numbers such as 202406 for a month.

enum OnePasswordDate {
    /// `2024-06-30`. 1Password gives a time around noon of the day. Nil for a time outside the years 1 to 9999.
    static func day(_ seconds: Int) -> String? {
        guard (-62_135_596_800...253_402_300_799).contains(seconds) else { return nil }
        // Days since the first of March of the year 0, in cycles of 400 years.
        let days = Int((Double(seconds) / 86_400).rounded(.down)) + 719_468
        let era = days / 146_097, day = days - era * 146_097
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365
        let ofYear = day - (365 * year + year / 4 - year / 100)
        let month = (5 * ofYear + 2) / 153
        let ofMonth = ofYear - (153 * month + 2) / 5 + 1
        let isNextYear = month >= 10
        return padded(year + era * 400 + (isNextYear ? 1 : 0), 4) + "-" + padded(isNextYear ? month - 9 : month + 3, 2) + "-"
            + padded(ofMonth, 2)
    }

    /// `2024-06`. Nil for a number that is no month.
    static func month(_ number: Int) -> String? {
        guard (1...9999).contains(number / 100), (1...12).contains(number % 100) else { return nil }
        return padded(number / 100, 4) + "-" + padded(number % 100, 2)
    }

    private static func padded(_ number: Int, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
}
