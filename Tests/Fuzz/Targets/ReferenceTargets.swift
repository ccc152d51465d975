// References, files of variables and templates that a user brings, and text on its way through a mask.

import OMMasking
import OMSecrets
import OMShell

enum ReferenceTargets {
    static let all = [
        FuzzTarget(name: "value-reference") { bytes in _ = try? ValueReference(String(decoding: bytes, as: UTF8.self)) },
        FuzzTarget(name: "environment-file") { bytes in
            guard let file = try? EnvironmentFile(SecretBytes(copying: bytes)) else { return }
            try? file.forEach { name, _ in precondition(EnvironmentFile.isName(name), "a variable has no name of one") }
        },
        FuzzTarget(name: "reference-template") { bytes in
            guard let template = try? ReferenceTemplate(bytes.span) else { return }
            var end = 0
            for case .text(let range) in template.parts {
                precondition(range.lowerBound >= end && range.upperBound <= bytes.count, "text is there twice")
                end = range.upperBound
            }
        },
        // The first byte is the number of values, each with its length before it. The rest is text, cut at each eighth byte.
        FuzzTarget(name: "mask") { bytes in
            var (list, rest) = (MaskList(), bytes[...])
            for _ in 0..<(rest.popFirst() ?? 0) % 8 {
                let value = Array(rest.dropFirst().prefix(Int(rest.first ?? 0) % 16))
                rest = rest.dropFirst(1 + value.count)
                list.add(SecretBytes(copying: value), marker: "")
            }
            let (mask, text) = (list.mask(), Array(rest))
            var (whole, pieces) = (MaskedStream(), MaskedStream())
            var shown: [UInt8] = []
            for start in stride(from: 0, to: text.count, by: 8) {
                shown += pieces.add(Array(text[start..<min(start + 8, text.count)]).span, mask)
            }
            shown += pieces.finish(mask)
            let atOnce = whole.add(text.span, mask) + whole.finish(mask)
            precondition(shown == atOnce, "where a text is cut changes what is shown")
        },
    ]
}
