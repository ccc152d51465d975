// A search of another process's memory, as root sees it from outside.

import Foundation
import Glibc

public struct ProcessMemory {
    private struct NotReadable: Error {
        let path: String
    }

    private let process: Int32

    public init(of process: Int32) { self.process = process }

    /// The children of this process that run a program with this argument.
    public static func children(with argument: String) throws -> [Int32] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { Int32($0) }.filter { process in
            guard let status = try? text("/proc/\(process)/status"), status.contains("\nPPid:\t\(getpid())\n"),
                let line = try? text("/proc/\(process)/cmdline")
            else { return false }
            return line.split(separator: "\0").contains { $0 == argument }
        }
    }

    /// How often the bytes are in memory that the process can read.
    public func copies(of needle: [UInt8]) throws -> Int { try places(of: needle).map(\.count).reduce(0, +) }

    /// The same count for each mapping, named by its bounds as the kernel writes them.
    public func places(of needle: [UInt8]) throws -> [(mapping: String, count: Int)] {
        let memory = open("/proc/\(process)/mem", O_RDONLY | O_CLOEXEC)
        guard memory >= 0 else { throw NotReadable(path: "/proc/\(process)/mem") }
        defer { close(memory) }
        var found: [(String, Int)] = []
        for line in try Self.text("/proc/\(process)/maps").split(separator: "\n") {
            let fields = line.split(separator: " ")
            let bounds = fields[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
            guard bounds.count == 2, fields[1].hasPrefix("r"), !line.contains("[v") else { continue }
            found.append((String(fields[0]), count(needle, memory, bounds[0], bounds[1])))
        }
        return found
    }

    /// A file of the kernel, read in pieces to its end, because it has no length.
    public static func text(_ path: String) throws -> String {
        guard let file = FileHandle(forReadingAtPath: path) else { throw NotReadable(path: path) }
        var text = Data()
        while case let piece = file.readData(ofLength: 4096), !piece.isEmpty { text += piece }
        return String(decoding: text, as: UTF8.self)
    }

    private func count(_ needle: [UInt8], _ memory: Int32, _ start: UInt64, _ end: UInt64) -> Int {
        let window = 1 << 20
        var buffer = [UInt8](repeating: 0, count: window)
        var found = 0
        var position = start
        while position < end {
            let wanted = min(window, Int(end - position))
            let got = buffer.withUnsafeMutableBytes { pread(memory, $0.baseAddress, wanted, off_t(position)) }
            guard got >= needle.count else { break }
            found += buffer.withUnsafeBytes { bytes in
                occurrences(of: needle, in: UnsafeRawBufferPointer(rebasing: bytes[..<got]))
            }
            if position + UInt64(got) >= end { break }
            position += UInt64(got - needle.count + 1)
        }
        return found
    }

    private func occurrences(of needle: [UInt8], in bytes: UnsafeRawBufferPointer) -> Int {
        guard let base = bytes.baseAddress else { return 0 }
        var found = 0
        var offset = 0
        while offset + needle.count <= bytes.count,
            let hit = memchr(base + offset, Int32(needle[0]), bytes.count - offset - needle.count + 1)
        {
            if memcmp(hit, needle, needle.count) == 0 { found += 1 }
            offset = UnsafeRawPointer(hit) - base + 1
        }
        return found
    }
}
