#if Serve
internal import CZlib
internal import HTTPTypes
internal import TidelineServer

/// Compression of responses in the format of gzip, at zlib's fastest level: JSON becomes several times smaller at any
/// level.
enum Gzip {
    /// The size in bytes from which a body is compressed. A smaller one fits into one packet of a network.
    static let minimumSize = 1_400

    /// Returns whether a client accepts gzip, which it does not if it gives it the weight 0.
    static func isAccepted(by headers: HTTPFields) -> Bool {
        var accepted: [Substring: Bool] = [:]
        for part in (headers[.acceptEncoding] ?? "").lowercased().split(separator: ",") {
            let fields = part.split(separator: ";").map { $0.drop { $0 == " " }.prefix { $0 != " " } }
            guard let name = fields.first else { continue }
            let weight = fields.dropFirst().first { $0.hasPrefix("q=") }
            accepted[name] = weight.map { Double($0.dropFirst(2)) ?? 0 > 0 } ?? true
        }
        return accepted["gzip"] ?? accepted["x-gzip"] ?? accepted["*"] ?? false
    }

    /// Compresses the body of a response, if it is large enough.
    static func compress(_ answer: TableResponse) -> TableResponse {
        var answer = answer
        // A cache must not return the response to a client that does not accept it.
        answer.response.headerFields[.vary] = "Accept-Encoding"
        guard answer.body.count >= minimumSize, let body = compress(answer.body) else { return answer }
        answer.response.headerFields[.contentEncoding] = "gzip"
        answer.body = body
        return answer
    }

    /// Returns the compressed bytes, or `nil` if there is no memory for them.
    private static func compress(_ bytes: [UInt8]) -> [UInt8]? {
        var stream = z_stream()
        guard bytes.count < UInt32.max / 2, tideline_begin_gzip(&stream, Z_BEST_SPEED) == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        let capacity = Int(deflateBound(&stream, UInt(bytes.count)))
        return [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
            bytes.withUnsafeBufferPointer { input in
                stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                // The output has room for everything, so one call is enough.
                deflate(&stream, Z_FINISH)
                count = Int(stream.total_out)
            }
        }
    }
}
#endif
