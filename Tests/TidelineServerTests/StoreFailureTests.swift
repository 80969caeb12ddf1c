import HTTPTypes
import Testing
import TidelineServer
import TidelineStore
import TidelineTestStores
import TidelineWire

struct StoreFailureTests {
    @Test(
        arguments: StoreKind.served,
        [
            (.busy, 503), (.full, 503), (.closed, 503), (.locked, 503), (.corrupt, 500), (.io, 503), (.readOnly, 503),
            (.noSuchTable, 404), (.unsupportedQuery, 400), (StoreError.Code(rawValue: "new"), 500),
        ] as [(StoreError.Code, Int)])
    func `a failure of the store has a status that says what the client may do`(
        _ stores: StoreKind, _ failure: (StoreError.Code, Int)
    ) throws {
        let (code, status) = failure
        let store = FailingStore(base: try stores.makeStore())
        let service = try TableService(
            store: store, options: TableServiceOptions(schemas: [ServiceFixture.schema]))
        store.fail(with: StoreError(code, "no luck", path: "/srv/secret.db"))
        for method in [HTTPRequest.Method.get, .post] {
            var request = HTTPRequest(method: method, scheme: "http", authority: "h", path: "/tables/Item")
            request.headerFields[.zumoAPIVersion] = "2.0.0"
            let answer = service.handle(request, body: Array("{}".utf8))
            #expect(answer.status.code == status)
            // Clients do not learn the details of a failure of the server, and never its files or databases.
            #expect(try !answer.error().contains("secret"))
            #expect(try answer.error().contains("no luck") == (status < 500))
            #expect(answer.failureReason?.contains("no luck") ?? false == (status >= 500))
            #expect((answer.response.headerFields[.retryAfter] != nil) == (status == 503))
            #expect(answer.response.headerFields[.date] != nil)
        }
    }

    @Test(arguments: StoreKind.served)
    func `a service whose store has refused a write is not ready until the store accepts writes`(
        _ stores: StoreKind
    ) throws {
        let fixture = try ServiceFixture(stores)
        let store = ControlledStore(fixture.store)
        let service = try TableService(store: store, options: TableServiceOptions(schemas: [ServiceFixture.schema]))
        var request = HTTPRequest(method: .post, scheme: "http", authority: "h", path: "/tables/Item")
        request.headerFields[.zumoAPIVersion] = "2.0.0"
        try service.checkStore()
        store.end { _ in .failAtBegin(StoreError(.readOnly, "no permission")) }
        try service.checkStore()
        #expect(service.handle(request, body: Array("{}".utf8)).status == .serviceUnavailable)
        #expect(throws: StoreError.self) { try service.checkStore() }
        store.end { _ in .commit }
        try service.checkStore()
        #expect(service.handle(request, body: Array("{}".utf8)).status == .created)
    }

    @Test(arguments: StoreKind.served)
    func `a store that was closed is 503`(_ stores: StoreKind) throws {
        let fixture = try ServiceFixture(stores)
        try fixture.store.close()
        #expect(fixture.send(.get, "/tables/Item").status == .serviceUnavailable)
    }
}
