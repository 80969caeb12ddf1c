import Foundation
import HTTPTypes
import Tideline
import TidelineLMDB
import TidelineLevelDB
import TidelineSQLite
import TidelineStore
import TidelineTestSupport

/// A client that pulls a large table and may be killed at any time:
/// `SyncProbe pull <engine> <folder> <rows> <page size>`.
///
/// For each requested page it prints `asked <number of its first row> <kB of memory>` and waits for a line on its input
/// before it returns the page. At its end it prints `ended <rows stored by this run> <kB of memory>`.
enum PullingClient {
    static func main(_ words: [String]) async throws {
        guard words.count == 4, let rows = Int(words[2]), let pageSize = Int(words[3]) else { SyncProbe.usage() }
        let path = "\(words[1])/store"
        switch words[0] {
        case "sqlite": try await pull(rows, pageSize, into: SQLiteStore(path: path))
        case "lmdb": try await pull(rows, pageSize, into: LMDBStore(path: path))
        case "leveldb": try await pull(rows, pageSize, into: LevelDBStore(path: path))
        default: SyncProbe.usage()
        }
    }

    private static func pull(_ rows: Int, _ pageSize: Int, into store: some LocalStore) async throws {
        let memory = HighestMemory()
        let server = NumberedServer(rows: rows, memory: memory)
        let client = try SyncClient(url: "http://server.test", store: store, transport: server)
        try await client.define([NumberedRow.schema])
        let settings = PullSettings(
            pageSize: pageSize, pagesPerTransaction: 4, onProgress: { _ in memory.look() })
        let result = try await client.table(NumberedRow.schema.name).pull(queryID: "all", settings: settings)
        try store.close()
        SyncProbe.say("ended \(result.rowsStored) \(memory.kilobytes)")
    }
}

/// A server that generates ``NumberedRow``s on request.
private struct NumberedServer: Transport {
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
