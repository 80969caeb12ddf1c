import Foundation
import HTTPTypes
import Tideline
import TidelineStore
import TidelineTestSupport

/// A server that generates ``NumberedRow``s on request.
struct NumberedServer: Transport {
    let rows: Int
    let memory: HighestMemory

    func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
        let query = (request.path ?? "").removingPercentEncoding ?? ""
        guard request.method == .get, let size = query.firstMatch(of: /\$top=(\d+)/).flatMap({ Int($0.1) }) else {
            throw TransportError(.invalidResponse, "no page is asked for by \(query)")
        }
        let bound = query.firstMatch(of: /updatedAt ge datetimeoffset'([^']+)'/).flatMap { Timestamp($0.1) }
        let first = bound.map { max(NumberedRow(updatedAt: $0).number, 0) } ?? 0
        memory.look()
        SyncProbe.say("asked \(first) \(memory.kilobytes)")
        // The parent process blocks this process here, so that it can kill it before its end.
        _ = readLine()
        return TransportResponse(response: HTTPResponse(status: .ok), body: page(first..<min(first + size, rows)))
    }

    private func page(_ numbers: Range<Int>) -> [UInt8] {
        var page = "{\"count\":\(rows - numbers.lowerBound),\"results\":["
        for number in numbers {
            let row = NumberedRow(number)
            page += number == numbers.lowerBound ? "" : ","
            page += """
                {"id":"\(row.id)","number":\(number),"text":"\(row.text)","createdAt":"\(row.updatedAt)",\
                "updatedAt":"\(row.updatedAt)","version":"\(row.version)","deleted":false}
                """
        }
        return Array((page + "]}").utf8)
    }
}
