internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import TidelineServer
internal import TidelineStore

/// Hands each request to the table service, on threads that may block, and its answer back.
struct TableResponder<Store: LocalStore>: HTTPResponder {
    typealias Context = BasicRequestContext

    var service: TableService<Store>
    /// Store calls wait for disks and locks; the event loops must not.
    var threads: NIOThreadPool
    /// The largest request body, in bytes.
    var maximumBodySize: Int

    func respond(to request: Request, context: Context) async throws -> Response {
        let body: ByteBuffer
        do {
            body = try await request.body.collect(upTo: maximumBodySize)
        } catch is NIOTooManyBytesError {
            return Self.tooLarge(maximumBodySize)
        }
        let head = request.head
        let answer = try await threads.runIfActive { [service] in
            service.handle(head, body: Array(body.readableBytesView))
        }
        context.logger.debug(
            "answered",
            metadata: [
                "method": "\(head.method)", "path": "\(head.path ?? "")", "status": "\(answer.response.status.code)",
                "bytes": "\(answer.body.count)",
            ])
        return Response(
            status: answer.response.status, headers: answer.response.headerFields,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
    }

    private static func tooLarge(_ limit: Int) -> Response {
        Response(
            status: .contentTooLarge, headers: [.contentType: "application/json"],
            body: ResponseBody(
                byteBuffer: ByteBuffer(string: #"{"error":"the body is larger than \#(limit) bytes"}"#)))
    }
}
