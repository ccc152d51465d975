/// How reading a descriptor ended.
enum ReadResult: Equatable {
    case end
    case tooLong
    case error(Int32)
}
