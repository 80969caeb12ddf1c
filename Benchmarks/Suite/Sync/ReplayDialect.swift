#if Commands
internal import HTTPTypes
internal import Tideline
internal import TidelineStore

/// A dialect for recorded pages. The cursor is the number of pages; an empty page is the last.
struct ReplayDialect: CustomDialect {
    let name = "replay"

    func request(for page: PageRequest, after cursor: Int?) throws -> ServerRequest {
        try ServerRequest(.get, path: [page.table])
    }

    func page(in response: TransportResponse, to page: PageRequest, after cursor: Int?) throws -> ServerPage<Int> {
        try ServerPage(json: response.body, list: nil, of: page) { _, last in
            (cursor: (cursor ?? 0) + 1, isLast: last == nil, remaining: nil)
        }
    }

    func request(for row: RowRequest) throws -> ServerRequest { try ServerRequest(.get, path: [row.table, row.id]) }
    func meaning(of response: TransportResponse, to row: RowRequest) throws -> AnswerMeaning { .done }
}
#endif
