internal import HTTPTypes
internal import Tideline
internal import TidelineStore
internal import TidelineWire

/// The response to one request.
struct ServerAnswer: Sendable {
    let request: WireRequest
    let response: TransportResponse

    var status: Int { response.response.status.code }
    var headers: HTTPFields { response.response.headerFields }
    var body: [UInt8] { response.body }
    var isSuccess: Bool { (200..<300).contains(status) }

    /// The request and the response in one line.
    var summary: String {
        let message = ErrorBody.message(of: body)
        let text = message.isEmpty ? "" : " (\(message.prefix(300)))"
        return "\(request.method.rawValue) \(request.target.prefix(300)) is answered with \(status)\(text)"
    }

    /// Reads the body as a row.
    func row() throws -> ServerRow {
        do {
            return try ServerRow(json: body)
        } catch {
            throw BrokenPromise("\(summary), and its body is no row: \(error)")
        }
    }

    /// Reads the body as a page of rows, in the form of either dialect.
    func page() throws -> ServerPage {
        let page: JSONPage
        do {
            page = try JSONPage(body)
        } catch {
            throw BrokenPromise("\(summary), and its body is no list of rows: \(error)")
        }
        return ServerPage(
            rows: try page.rows.map { try ServerRow(json: Array(body[$0])) }, count: page.totalCount.map(Int.init),
            link: page.nextLink, answer: self)
    }

    /// The version in the header `ETag`, if it is a strong one.
    var version: String? { headers[.eTag].flatMap { ETag.version(fromETag: $0) } }
}

/// A page of rows.
struct ServerPage: Sendable {
    var rows: [ServerRow]
    /// The total number of matching rows, if the response contains it.
    var count: Int?
    /// The link in the body.
    var link: String?
    var answer: ServerAnswer

    var ids: [String] { rows.map(\.id) }
}

/// A row as the server returned it.
struct ServerRow: Sendable {
    let row: Row
    let json: [UInt8]

    init(json: [UInt8]) throws {
        row = try json.withUnsafeBytes { try JSONRow.parse($0, allowsIntegerID: true) }
        self.json = json
    }

    var id: String { row.idText }
    var version: String? { row["version"]?.string }
    var updatedAt: Timestamp? { self["updatedAt"]?.string.flatMap { Timestamp($0) } }
    var isDeleted: Bool { row["deleted"] == .bool(true) }

    /// The value of a column, or `nil` if it is null or absent.
    subscript(column: String) -> Value? { row[column].flatMap { $0.isNull ? nil : $0 } }

    var text: String? { self["text"]?.string }
}
