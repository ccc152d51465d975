/// How reading a descriptor ended.
package enum ReadResult: Equatable {
    case end
    case tooLong
    case error(Int32)
}
