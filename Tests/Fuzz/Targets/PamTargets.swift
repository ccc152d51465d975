// The bytes at the PAM helper's descriptor. `PamQuestion.swift` here is a link to the helper's file, because a program
// cannot be part of another.

import Glibc
import OMSecrets

enum PamTargets {
    static let all = [
        // The helper reads one question and ignores the rest. A question that it read must be written again as the same bytes.
        FuzzTarget(name: "pam-question") { bytes in
            guard rewrite(bytes), let question = PamQuestion(from: descriptor) else { return }
            let (profile, user) = (Array(question.profile.utf8), Array(question.user.utf8))
            let password = question.password.withBytes { password in password.indices.map { password[$0] } }
            var again = Array("OMP3".utf8) + question.nonce + [question.mode.rawValue]
            again += [
                UInt8(ascii: question.allowsRoot ? "Y" : "N"), UInt8(question.seconds >> 8), UInt8(question.seconds & 0xFF),
                UInt8(profile.count),
            ]
            again += [UInt8(user.count >> 8), UInt8(user.count & 0xFF)]
            again += stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: password.count >> $0) }
            again += profile + user + password
            precondition(bytes.starts(with: again), "a question has two spellings")
        }
    ]

    /// A file in memory instead of the module's socket.
    private static let descriptor: Int32 = {
        let path = ScratchFolder.path + "-question"
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL, 0o600)
        unlink(path)
        return descriptor
    }()

    private static func rewrite(_ bytes: [UInt8]) -> Bool {
        ftruncate(descriptor, 0) == 0 && pwrite(descriptor, bytes, bytes.count, 0) == bytes.count
            && lseek(descriptor, 0, SEEK_SET) == 0
    }
}
