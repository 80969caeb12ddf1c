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
        let store = ControlledStore(try stores.makeStore())
        let service = try TableService(store: store, options: TableServiceOptions(schemas: [ServiceFixture.schema]))
        store.fail(with: StoreError(code, "no luck", path: "/srv/secret.db"))
        for method in [HTTPRequest.Method.get, .post] {
            let answer = service.send(method, "/tables/Item", "{}")
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
    func `a service whose store refused a write is not ready until it accepts writes`(_ stores: StoreKind) throws {
        let fixture = try ServiceFixture(stores)
        let store = ControlledStore(fixture.store)
        let service = try TableService(store: store, options: TableServiceOptions(schemas: [ServiceFixture.schema]))
        try service.checkStore()
        store.end { _ in .failAtBegin(StoreError(.readOnly, "no permission")) }
        try service.checkStore()
        #expect(service.send(.post, "/tables/Item", "{}").status == .serviceUnavailable)
        #expect(throws: StoreError.self) { try service.checkStore() }
        store.end { _ in .commit }
        try service.checkStore()
        #expect(service.send(.post, "/tables/Item", "{}").status == .created)
    }

    @Test(arguments: StoreKind.served)
    func `a store that was closed is 503`(_ stores: StoreKind) throws {
        let fixture = try ServiceFixture(stores)
        try fixture.store.close()
        #expect(fixture.send(.get, "/tables/Item").status == .serviceUnavailable)
    }
}
