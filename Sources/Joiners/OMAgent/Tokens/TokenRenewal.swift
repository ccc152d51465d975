internal import OMOnlineModel

/// The result of a question for another token that has just been answered.
enum TokenRenewal {
    case notAsked
    case renewed
    case refused(OnlineRefusal)
}
