// What the Mobile and Social service is told about this device: its system, and nothing that names the device, its user or
// its place.

internal import Glibc
internal import OMJSON

struct DeviceClaims: Sendable {
    static let sdkVersion = "11.1.2.3.0"
    private static let prefix = "oracle:idm:claims:client:"
    /// Claims that a server may ask for and that omvault does not know. Two others, `vpnenabled` and `jailbroken`, are
    /// truth values, and "unknown" is neither true nor false: they are left out.
    private static let unknown: Set = [
        "locale", "geolocation", "networktype", "phonecarriername", "fingerprint", "ipaddress",
    ]

    /// `osType` in the request for the application profile.
    let system: String
    /// `ostype` in a device's profile.
    let type: String
    let version: String

    /// Linux, with the first two numbers of the kernel's release. The rest of the release is left out: few machines share it.
    static let own = DeviceClaims(system: "Linux", type: "Linux", version: release())

    private static func release() -> String {
        var names = utsname()
        guard uname(&names) == 0 else { return "UNKNOWN" }
        let release = withUnsafeBytes(of: &names.release) { bytes in String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }
        let numbers = release.split(separator: "-")[..<1].first?.split(separator: ".").prefix(2) ?? []
        guard numbers.count == 2, numbers.allSatisfy({ Int($0) != nil }) else { return "UNKNOWN" }
        return numbers.joined(separator: ".")
    }

    /// `deviceProfile` as JSON.
    ///
    /// Attack: a server asks for the numbers of a device and follows its user from one service to the next. So the hardware's
    /// numbers are always empty, and a claim that is asked for is `UNKNOWN`.
    ///
    /// - Parameter wanted: The claims that the application profile asks for.
    func profile(_ wanted: [String]) -> String {
        var claims = ["ostype": type, "osversion": version, "sdkversion": Self.sdkVersion]
        for name in wanted.map({ $0.hasPrefix(Self.prefix) ? String($0.dropFirst(Self.prefix.count)) : $0 })
        where Self.unknown.contains(name) {
            claims[name] = "UNKNOWN"
        }
        var members = claims.map { (Self.prefix + $0.key, JSON.string($0.value)) }
        members.append(("hardwareIds", .object([:])))
        return JSON.object(Dictionary(uniqueKeysWithValues: members)).serialized
    }
}
