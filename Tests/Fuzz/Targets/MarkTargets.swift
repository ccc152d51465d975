// This device's marks of the histories that it has seen. A misread mark would hide a rollback.

import OMSecrets
import OMStorage

enum MarkTargets {
    static let all = [
        // A slot of the file without its MAC. Its marks are written again into the other slot, and must be the same.
        FuzzTarget(name: "high-water", seeds: { [seed] }) { bytes in
            guard bytes.count <= macOffset else { return }
            ScratchFolder.run { folder in
                let key = LoginTemplate.device.key.derive(Context(.highWaterMAC), as: Authenticating.self)
                let body = bytes + [UInt8](repeating: 0, count: macOffset - bytes.count)
                let slot = body + MAC.tag(of: body, using: key, context: Context(.highWaterMAC))
                let blank = [UInt8](repeating: 0, count: slot.count)
                ScratchFolder.write(slot + blank, to: "\(folder)/login-\(Hex.encode(id)).mark")
                guard let device = try? DeviceFolder(folder) else { return }
                let file = device.highWater(.login, id: id, under: LoginTemplate.device)
                guard let marks = try? file.read() else { return }
                let isWritten = (try? file.write(marks)) != nil
                precondition(isWritten, "marks that were read cannot be written")
                let again = try? file.read()
                precondition(again == marks, "marks are written as others")
            }
        }
    ]

    private static let macOffset = 480
    private static let id = [UInt8](repeating: 3, count: 16)

    private static var seed: [UInt8] {
        let mark: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 3] + [UInt8](repeating: 1, count: 32)
        return Array("OMVHW1".utf8) + [2, 1] + id + [0, 0, 0, 0, 0, 0, 0, 7] + mark
    }
}
