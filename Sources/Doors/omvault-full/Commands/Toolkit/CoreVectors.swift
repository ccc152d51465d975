internal import CVectors
internal import OMVectors

/// The vector files that are built into omvault.
enum CoreVectors {
    static var files: [VectorFile] {
        var files: [VectorFile] = []
        while let next = omv_core_vector_at(files.count)?.pointee {
            let content = Array(UnsafeBufferPointer(start: next.bytes, count: next.count))
            files.append(VectorFile(builtIn: String(cString: next.name), content: content))
        }
        return files
    }
}
