import Glibc
import Testing

@testable import OMSecrets

@Suite("What stays in memory") struct MemoryScanTests {
    @Test("the process has a released secret nowhere in its memory, while the scan finds a plain array")
    func released() async {
        await #expect(processExitsWith: .success) {
            let scan = try MemoryScan()
            let secret = scan.makeNeedle()
            try expectCopies(1, scan)  // control: the scan sees locked memory
            withExtendedLifetime(secret) {}
            _ = consume secret
            try expectCopies(0, scan)

            let plain = scan.makePlainNeedle()
            guard try scan.copies() > 0 else { throw Unexpected() }  // control: it sees the heap too
            withExtendedLifetime(plain) {}
        }
    }

    @Test("growing, finishing, encoding and comparing leave no copy behind")
    func working() async {
        await #expect(processExitsWith: .success) {
            let scan = try MemoryScan()
            try work(scan)
            try expectCopies(0, scan)
        }
    }
}

private struct Unexpected: Error {}

private func expectCopies(_ count: Int, _ scan: MemoryScan) throws {
    guard try scan.copies() == count else { throw Unexpected() }
}

private func work(_ scan: MemoryScan) throws {
    let secret = scan.makeNeedle()
    var buffer = SecretBuffer()
    for _ in 0..<50 { buffer.append(secret) }
    let all = buffer.finish()
    let again = try Base64.decode(Base64.encode(all))
    guard again.isEqual(to: all) else { throw Unexpected() }
    let key = try Argon2id.stretch(again, salt: Random.bytes(16), .floor)
    let sealing = key.derive(Context(.record), as: Sealing.self)
    _ = try AEAD.open(
        AEAD.seal(all, using: sealing, context: Context(.record)), using: sealing, context: Context(.record))
}

/// Looks for a needle in every readable mapping of this process, except the mapping of the needle itself.
private struct MemoryScan {
    private static let needleCount = 48
    private static let windowCount = 1 << 20

    /// The needle, and after it the window through which memory is read.
    private let own: UnsafeMutableRawPointer
    private let memory: Int32

    init() throws {
        let size = Self.needleCount + Self.windowCount
        guard let own = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), own != MAP_FAILED
        else { throw Unexpected() }
        self.own = own
        memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        guard memory >= 0, getentropy(own, Self.needleCount) == 0 else { throw Unexpected() }
    }

    func makeNeedle() -> SecretBytes {
        SecretBytes(
            copying: UnsafeRawBufferPointer(start: own, count: Self.needleCount).bindMemory(to: UInt8.self).span)
    }

    func makePlainNeedle() -> [UInt8] { Array(UnsafeRawBufferPointer(start: own, count: Self.needleCount)) }

    func copies() throws -> Int {
        var found = 0
        for region in try regions() where !region.contains(UInt(bitPattern: own)) {
            // Windows overlap by one byte less than a needle, so that none is cut in two and none counted twice.
            var start = region.lowerBound
            while start < region.upperBound {
                let window = own + Self.needleCount
                let count = pread(
                    memory, window, min(Self.windowCount, Int(region.upperBound - start)),
                    off_t(start))
                guard count > 0 else { break }
                found += occurrences(in: UnsafeRawBufferPointer(start: window, count: count))
                if start + UInt(count) >= region.upperBound || count < Self.needleCount { break }
                start += UInt(count - Self.needleCount + 1)
            }
        }
        return found
    }

    private func occurrences(in window: UnsafeRawBufferPointer) -> Int {
        var found = 0
        var offset = 0
        let first = own.load(as: UInt8.self)
        while offset + Self.needleCount <= window.count,
            let hit = memchr(window.baseAddress! + offset, Int32(first), window.count - offset - Self.needleCount + 1)
        {
            if memcmp(hit, own, Self.needleCount) == 0 { found += 1 }
            offset = UnsafeRawPointer(hit) - window.baseAddress! + 1
        }
        return found
    }

    private func regions() throws -> [Range<UInt>] {
        guard let maps = fopen("/proc/self/maps", "re") else { throw Unexpected() }
        defer { fclose(maps) }
        var found: [Range<UInt>] = []
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        while getline(&line, &capacity, maps) > 0, let text = line.map({ String(cString: $0) }) {
            let fields = text.split(separator: " ")
            let bounds = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            let isKernels = text.contains("[v")  // vvar, vdso, vsyscall
            if bounds.count == 2, fields[1].hasPrefix("r"), !isKernels { found.append(bounds[0]..<bounds[1]) }
        }
        return found
    }
}
