#if Serve
internal import Foundation
internal import Synchronization

/// Ports of 127.0.0.1 for servers that are restarted.
enum FreePort {
    private static let count = Atomic(Int.random(in: 0..<20_000))

    /// Returns a port that no program uses, or 0 if none can be used, which the server reports. By default, the system
    /// selects other ones by itself, so that no other program gets the port while its server is restarted.
    static func next() -> Int {
        for _ in 0..<20_000 {
            let port = 10_000 + count.wrappingAdd(1, ordering: .relaxed).newValue % 20_000
            if (try? BoundAddress(host: "127.0.0.1", port: port)) != nil { return port }
        }
        return 0
    }
}
#endif
