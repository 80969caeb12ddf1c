import Testing
import TidelineTestStores

@testable import Tideline

/// Tokens in the responses of a server, which may repeat the request.
@Suite("Custom dialect: tokens")
struct DialectSecretTests {
    @Test("No error contains a token that the server repeats, even if the dialect cannot read the response")
    func secrets() async throws {
        let world = NotesWorld(.simplest)
        let log = LogRecorder()
        var texts: [String] = []
        for dialect in [NotesDialect(), NotesVariant.echoing] as [any CustomDialect] {
            let client = try await world.makeClient(dialect: dialect) { $0.logger = log.logger }
            texts += try await errors(of: client, world)
        }
        #expect(texts.count > 40 && texts.contains { $0.contains("cannot read the response") })
        texts += log.entries.map(\.message)
        #expect(!texts.contains { $0.contains("SECRET") }, "\(texts.filter { $0.contains("SECRET") })")
    }

    /// Returns the errors of pushes and pulls whose responses repeat the token.
    private func errors(of client: NotesClient, _ world: NotesWorld) async throws -> [String] {
        client.client.currentUser = SignedInUser(userID: "u", authenticationToken: "SECRET")
        try await client.notes.insert(["id": "a", "text": "one"])
        var texts: [String] = []
        for status in [200, 400, 404, 409, 420, 498, 500] {
            for body in ["Bearer SECRET", #"{"error":"SECRET is not valid"}"#, #"{"SECRET":"#] {
                world.server.inspect { _, _ in .answer(.answer(status, body)) }
                for call in [{ try await client.client.push() as Any }, { try await client.pull() as Any }] {
                    do { _ = try await call() } catch { texts.append("\(error) \(String(reflecting: error))") }
                }
                texts += try await client.client.operationErrors().map { "\($0) \($0.message)" }
            }
        }
        return texts
    }
}

extension NotesVariant {
    /// The dialect with errors that repeat the response.
    fileprivate static var echoing: NotesVariant {
        let error: @Sendable (TransportResponse) -> NotesError = {
            NotesError("unknown response: \(String(decoding: $0.body, as: UTF8.self))")
        }
        return NotesVariant(
            name: "echoing", pageMeaning: { response, _, _ in throw error(response) },
            rowMeaning: { response, _ in throw error(response) })
    }
}
