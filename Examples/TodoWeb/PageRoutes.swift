#if Tool
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Tideline

/// The requests of the page: the page itself, its events, and its edits.
struct PageRoutes: Sendable {
    let list: TodoList
    let board: PageBoard

    func router() -> Router<BasicRequestContext> {
        let router = Router()
        router.addMiddleware { EditGuard() }
        router.get("/") { _, _ in
            Response(
                status: .ok, headers: [.contentType: "text/html; charset=utf-8", .cacheControl: "no-store"],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: PackageResources.page_html)))
        }
        router.get("/events") { _, _ in
            Response(
                status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
                body: ResponseBody(asyncSequence: board.states().map(Self.event)))
        }
        router.post("/items") { request, context in
            let item = try await request.decode(as: Edit.self, context: context)
            try await list.add(Self.required(item.text))
            return HTTPResponse.Status.noContent
        }
        router.patch("/items/:id") { request, context in
            let item = try await request.decode(as: Edit.self, context: context)
            let text = try item.text.map(Self.required)
            try await list.edit(TodoItem.ID(context.parameters.require("id")), text: text, complete: item.complete)
            return HTTPResponse.Status.noContent
        }
        router.delete("/items/:id") { _, context in
            try await list.delete(TodoItem.ID(context.parameters.require("id")))
            return HTTPResponse.Status.noContent
        }
        router.put("/network") { request, context in
            let isOn = try await request.decode(as: Network.self, context: context).isOn
            list.network.isOn = isOn
            board.update { $0.isOnline = isOn }
            return HTTPResponse.Status.noContent
        }
        router.put("/conflicts/:id") { request, context in
            let choice = try await request.decode(as: Choice.self, context: context)
            try await list.resolve(context.parameters.require("id"), keepsMine: choice.version == .local)
            return HTTPResponse.Status.noContent
        }
        router.put("/merges/:id") { request, context in
            let choice = try await request.decode(as: Choice.self, context: context)
            let merge = try context.parameters.require("id", as: Int64.self)
            try await list.restore(choice.version == .local ? .local : .server, of: merge)
            return HTTPResponse.Status.noContent
        }
        return router
    }

    private struct Edit: Decodable {
        var text: String?
        var complete: Bool?
    }

    private struct Network: Decodable {
        var isOn: Bool
    }

    private struct Choice: Decodable {
        enum Version: String, Decodable { case local, server }

        var version: Version
    }

    private static func required(_ text: String?) throws -> String {
        let text = (text ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty else { throw HTTPError(.badRequest, message: "Enter a text.") }
        return text
    }

    /// Returns a state as a server-sent event.
    private static func event(_ state: PageState) throws -> ByteBuffer {
        var event = ByteBuffer(string: "data: ")
        event.writeBytes(try JSONEncoder().encode(state))
        event.writeString("\n\n")
        return event
    }
}

/// Refuses edits that another site's page could send, and answers the errors of the list with their message.
private struct EditGuard<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        // A page of another site cannot send this type, or another method than GET and POST, without asking first.
        guard request.method != .post || request.headers[.contentType] == "application/json" else {
            throw HTTPError(.unsupportedMediaType, message: "Send application/json.")
        }
        do {
            return try await next(request, context)
        } catch let error as SyncError {
            throw HTTPError(error.code == .noSuchRow ? .notFound : .badRequest, message: error.message)
        }
    }
}
#endif
