// Until the policy of the header is merged.
public struct VaultPolicy { public let keepsTicket = false }
extension VaultFile { public var policy: VaultPolicy { VaultPolicy() } }
