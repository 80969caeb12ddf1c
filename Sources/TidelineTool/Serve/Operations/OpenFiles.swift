#if Serve
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The limit on the files of the process, of which each connection is one.
enum OpenFiles {
    /// The number of files for the store, the logs, and requests to an identity provider.
    private static let reserve = 256

    /// Raises the limit for a number of connections, as far as the system permits.
    ///
    /// - Returns: The number of connections within the limit.
    static func allow(connections: Int) -> Int {
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return connections }
        let wanted = rlim_t(connections + reserve)
        if limit.rlim_cur < wanted {
            var raised = limit
            raised.rlim_cur = min(wanted, limit.rlim_max)
            if setrlimit(resource, &raised) == 0 { limit = raised }
        }
        return Int(clamping: limit.rlim_cur) - reserve
    }
}
#endif
