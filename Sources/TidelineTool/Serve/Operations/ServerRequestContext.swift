internal import Hummingbird
internal import Logging
internal import NIOCore

/// The context of a request, with the address of the client.
struct ServerRequestContext: RequestContext {
    typealias Source = ApplicationRequestContextSource

    var coreContext: CoreRequestContextStorage
    /// The address of the client, or that of a proxy before the server.
    let address: String?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        address = source.channel.remoteAddress?.ipAddress
    }
}
