/// The kinds of frames. `stepDown`, `otherVersion` and the head of a frame mean the same in every version.
package enum FrameKind: UInt8 {
    // From the client
    case stepDown = 0x01
    case status = 0x02
    case unlock = 0x03
    case lock = 0x04
    case perform = 0x05
    case lockOpened = 0x06
    case syncStatus = 0x07
    case syncNow = 0x08
    case sshKeys = 0x09
    case signSSH = 0x0A
    // From the client, for logins
    case rememberingKey = 0x40
    // About sessions
    case keepSession = 0x50
    case useSession = 0x51
    case renewSession = 0x52
    case endSession = 0x53
    case sessions = 0x54
    case token = 0x55
    case forgetToken = 0x56
    case sign = 0x57
    case request = 0x58
    case claims = 0x5B
    case restoreSession = 0x64
    case knownToken = 0x66
    case profileReading = 0x67
    case compareSession = 0x75
    // To a helper: docs/formats/online-protocol.md, and docs/formats/sync.md, "The folder's helper"
    case question = 0x20
    case pasted = 0x21
    case signature = 0x22
    case noSignature = 0x23
    case opening = 0x24
    case requestHead = 0x25
    case requestPiece = 0x26
    case requestEnd = 0x27
    // From the agent
    case done = 0x80
    case otherVersion = 0x81
    case busy = 0x82
    case refused = 0x83
    case agentStatus = 0x84
    case reply = 0x85
    case failure = 0x86
    case locked = 0x87
    case full = 0x88
    case unlocked = 0x89
    case sync = 0x8A
    case sshKeysGiven = 0x8B
    case session = 0xD0
    case noSession = 0xD1
    case sessionRefused = 0xD2
    case sessionEnded = 0xD3
    case sessionList = 0xD4
    case tokenGiven = 0xD5
    case tokenRefused = 0xD6
    case signed = 0xD7
    case notSigned = 0xD8
    case requester = 0xD9
    case foreignOrigin = 0xDA
    case claimsGiven = 0xDD
    case knownTokenGiven = 0xEC
    // From a helper
    case answer = 0xA0
    case show = 0xA1
    case paste = 0xA2
    case askSignature = 0xA3
    case answerHead = 0xA4
    case answerPiece = 0xA5
    case answerEnd = 0xA6
    case answerRefused = 0xA7
    // From the agent, for logins
    case rememberingKeyIs = 0xC0
}
