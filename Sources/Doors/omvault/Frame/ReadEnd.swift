/// How reading a descriptor ended.
enum ReadEnd: Equatable {
    case end
    case tooLong
    case error(Int32)
}
