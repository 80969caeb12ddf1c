#if Tool
import Foundation
import Testing
import Tideline

@testable import TidelineTool

@Suite("Compressed responses", .timeLimit(.minutes(15)))
struct CompressionTests {
    /// A response as received: the lines of its head in lowercase, and the bytes of its body.
    private struct Answer {
        let head: [String]
        let body: [UInt8]

        var isCompressed: Bool { head.contains("content-encoding: gzip") }
        var length: Int? { head.first { $0.hasPrefix("content-length: ") }.flatMap { Int($0.dropFirst(16)) } }

        /// The body, which the program gzip decompresses if it is compressed.
        func text() throws -> String {
            guard isCompressed else { return String(decoding: body, as: UTF8.self) }
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).gz")
            try Data(body).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let output = try ToolProcess.run("/usr/bin/env", "gzip", "-dc", file.path)
            try #require(output.status == 0)
            return output.out
        }
    }

    private static func answer(
        _ path: String, _ authority: String, accepting encodings: String?
    ) async throws -> Answer {
        let accept = encodings.map { "Accept-Encoding: \($0)\r\n" } ?? ""
        let request = RawConnection.get(path, headers: "Connection: close\r\n\(accept)")
        let bytes = try await RawConnection.blocking {
            try RawConnection(authority, sending: request).receiveBytesToEnd()
        }
        let data = Data(bytes)
        let end = try #require(data.range(of: Data("\r\n\r\n".utf8)))
        let head = String(decoding: data[..<end.lowerBound], as: UTF8.self).lowercased()
        #expect(head.hasPrefix("http/1.1 200"))
        return Answer(head: head.components(separatedBy: "\r\n"), body: Array(data[end.upperBound...]))
    }

    private static func insertRows(_ authority: String) async throws {
        for number in 0..<60 {
            let row = #"{"id":"\#(number)","text":"An item of the list, with a text of a usual length"}"#
            #expect(try await send(.post, "/tables/T", to: authority, body: row).response.status == .created)
        }
    }

    @Test("A page is compressed for a client that accepts gzip, and is the same page")
    func pages() async throws {
        try await serving { authority in
            try await Self.insertRows(authority)
            let page = "/tables/T?$top=60"
            let plain = try await Self.answer(page, authority, accepting: nil)
            #expect(!plain.isCompressed && plain.body.count > 5_000)
            let accepting = [
                ("gzip", true), ("GZIP", true), ("deflate, gzip;q=0.5", true), ("x-gzip", true), ("*", true),
                ("br;q=1.0, *; q=0.1", true), ("gzip;q=0, *", false), ("gzip; q=0.0", false), ("identity", false),
                ("deflate, br", false), ("", false), (",;q=,gzipped", false), ("gzip;q=x", false),
            ]
            for (encodings, isAccepted) in accepting {
                let answer = try await Self.answer(page, authority, accepting: encodings)
                #expect(answer.isCompressed == isAccepted, "\(encodings)")
                #expect(answer.length == answer.body.count, "\(encodings)")
                #expect(try answer.text() == plain.text(), "\(encodings)")
                guard isAccepted else { continue }
                #expect(answer.body.count < plain.body.count / 4, "\(encodings)")
                #expect(answer.head.contains("vary: accept-encoding"))
            }
            // The client's transport accepts gzip.
            let received = try await send(.get, page, to: authority)
            #expect(try String(decoding: received.body, as: UTF8.self) == plain.text())
        }
    }

    @Test("A small response is not compressed, and with --no-compression, nothing is")
    func uncompressed() async throws {
        for (compresses, path) in [(true, "/tables/T/1"), (false, "/tables/T?$top=60")] {
            try await serving(compresses: compresses) { authority in
                try await Self.insertRows(authority)
                #expect(try await !Self.answer(path, authority, accepting: "gzip").isCompressed, "\(path)")
            }
        }
        let command = try #require(TidelineCommand.parseAsRoot(["serve", "--no-compression"]) as? ServeCommand)
        #expect(!command.operations.compression)
    }
}
#endif
