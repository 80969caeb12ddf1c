internal import HTTPTypes
internal import Tideline
internal import TidelineStore

extension DialectCheck {
    static let values: [DialectCheck] = [
        DialectCheck(
            "DIA-101", "A row that one client inserts arrives at another with each of its values",
            "send all columns of RowRequest.row, and read all columns of the table"
        ) { scene in
            let (_, two, ids) = try await scene.pair(1)
            try await scene.expectRows([ids[0]: 1], on: two)
        },
        DialectCheck(
            "DIA-102", "Every value comes back as it was sent: Unicode, large numbers, exact doubles, times, JSON",
            "use JSONFields, or a coder that neither shortens texts nor reads integers as doubles"
        ) { scene in
            let (one, rows) = (try await scene.device(), scene.samples())
            for row in rows { try await one.table.insert(row) }
            try await one.pushAll()
            try await scene.expectRows(rows, on: one)
        },
        DialectCheck(
            "DIA-103", "A column that an update sets to null is null for others, and other columns keep their values",
            "write the nulls of RowRequest.row, and send no other columns or replacesWholeRows"
        ) { scene in
            let (one, two, ids) = try await scene.pair(1)
            guard let column = scene.columns.last(where: \.isOptional) else {
                throw SkippedCheck(reason: "no column of the table may be null")
            }
            try await one.table.update(["id": .string(ids[0]), column.name: Value.null])
            try await one.pushAll()
            var expected = scene.row(ids[0], 1)
            expected[column.name] = nil
            try await scene.expectRows([expected], on: one, two)
        },
        DialectCheck(
            "DIA-104", "An id that the dialect accepts is found by it, also a long one and one with signs",
            "throw in validateNewID for ids that the server changes or refuses"
        ) { scene in
            let (one, two) = (try await scene.device(), try await scene.device())
            let base = scene.suite.options.environment.makeID()
            var ids: [String: Int] = [:]
            let long = base + String(repeating: "x", count: max(0, 255 - base.utf8.count))
            let candidates: [String] = [base + "_-", "_" + base, base + " %2F&=;", base + "é\u{1F600}", long]
            for (number, id) in candidates.enumerated() {
                // The dialect may refuse the id.
                guard (try? await one.insert(id, number)) != nil else { continue }
                ids[scene.newID(id)] = number
            }
            try await one.pushAll()
            try await scene.expectRows(ids, on: one, two)
            for id in ids.keys { try await two.delete(id) }
            try await two.pushAll()
            try await scene.expectRows([:], on: one, two)
        },
    ]

    static let changes: [DialectCheck] = [
        DialectCheck(
            "DIA-201", "An insert of an id that another client has inserted is a conflict with the other's row",
            "an insert must only be done if there is no such row, such as with If-None-Match: *"
        ) { scene in
            let (one, two, ids) = (try await scene.device(), try await scene.device(), [scene.newID()])
            try await one.insert(ids[0], 1)
            try await two.insert(ids[0], 2)
            try await one.pushAll()
            try await two.expectConflict(two.push(), with: scene.row(ids[0], 1))
            try await scene.expectRows([ids[0]: 1], on: one)
        },
        DialectCheck(
            "DIA-202", "An update of an earlier version is a conflict with the newer row, which stays",
            "an update must only be done if the row has RowRequest.version, such as with If-Match"
        ) { scene in
            let (one, two, ids) = try await scene.pair(1)
            try await one.update(ids[0], 2)
            try await two.update(ids[0], 3)
            try await one.pushAll()
            let newer = try await one.contents()[ids[0]] ?? Row()
            try await two.expectConflict(two.push(), with: newer)
            try await scene.expectRows([newer], on: one)
        },
        DialectCheck(
            "DIA-203", "A delete of an earlier version is a conflict with the newer row, which stays",
            "a delete must only be done if the row has RowRequest.version, such as with If-Match"
        ) { scene in
            let (one, two, ids) = try await scene.pair(1)
            try await one.update(ids[0], 2)
            try await two.delete(ids[0])
            try await one.pushAll()
            let newer = try await one.contents()[ids[0]] ?? Row()
            try await two.expectConflict(two.push(), with: newer)
            try await scene.expectRows([newer], on: one)
        },
        DialectCheck(
            "DIA-204", "A delete of a row that another client has deleted succeeds",
            "the meaning of the response for a row that is missing is gone"
        ) { scene in
            let (one, two, ids) = try await scene.pair(1)
            try await one.delete(ids[0])
            try await two.delete(ids[0])
            try await one.pushAll()
            try await two.pushAll()
            try await scene.expectRows([:], on: one, two)
        },
        DialectCheck(
            "DIA-205", "An update of a row that another client has deleted is a conflict that says so",
            "the meaning of an update of a missing row is gone, and it must not create the row"
        ) { scene in
            let (one, two, ids) = try await scene.pair(1)
            try await one.delete(ids[0])
            try await two.update(ids[0], 2)
            try await one.pushAll()
            let errors = try await two.push()
            guard errors.count == 1, errors[0].code == .conflict, errors[0].isRowGone else {
                throw BrokenPromise("the push: expected: one conflict with a row that is gone; found: \(errors)")
            }
            try await scene.expectRows([:], on: one)
        },
        DialectCheck(
            "DIA-206", "A row can be inserted again after it was deleted, and arrives at all clients",
            "an insert over a deleted row succeeds, or is a conflict with a row whose column deleted is true"
        ) { scene in
            let (one, two, ids) = try await scene.pair(1, policy: .clientWins)
            try await one.delete(ids[0])
            try await one.pushAll()
            try await two.pull()
            try await two.insert(ids[0], 2)
            try await two.settle()
            try await scene.expectRows([ids[0]: 2], on: one, two)
        },
        DialectCheck(
            "DIA-207", "A change that follows a client's own one is not in conflict with it",
            "return the row with its new version from a change, or no row, so that it is looked up"
        ) { scene in
            let one = try await scene.device()
            let id = scene.newID()
            try await one.insert(id, 1)
            try await one.pushAll()
            for number in 2...3 {
                try await one.update(id, number)
                try await one.update(id, number, isOther: true)
                try await one.pushAll()
            }
            let last = try await one.contents()[id] ?? Row()
            try await scene.expectRows([last], on: one)
            try await one.delete(id)
            try await one.pushAll()
            try await scene.expectRows([:], on: one)
        },
        DialectCheck(
            "DIA-208", "Changes in a table that the server does not have stay pending, and no row is gone",
            "a missing table is refused, for rows and for pages, and not gone"
        ) { scene in
            let device = try await scene.device(table: "\(scene.suite.schema.name)Missing")
            try await device.insert(scene.suite.options.environment.makeID(), 1)
            let errors: [TableOperationError]
            do {
                errors = try await device.push()
            } catch is SyncError {
                errors = []
            }
            guard try await device.client.pendingOperationsCount > 0 else {
                throw SkippedCheck(reason: "the server creates tables")
            }
            try scene.expect(errors.contains { $0.isRowGone || $0.code == .conflict }, false, "gone or in conflict")
            try scene.expect((try? await device.pull()) == nil, true, "whether a pull of the table fails")
            try await scene.expect(device.table.rows().rows.count, 1, "the number of local rows")
        },
        DialectCheck(
            "DIA-209", "Changes of several clients at the same time are all carried out, without errors",
            "a change that met another one is serverFailed, so that it is repeated, and no conflict of its row"
        ) { scene in
            let devices = [try await scene.device(), try await scene.device()]
            var numbers: [String: Int] = [:]
            for number in 0..<12 {
                let id = scene.newID()
                numbers[id] = number
                try await devices[number % 2].insert(id, number)
            }
            async let first: Void = devices[0].pushAll()
            async let second: Void = devices[1].pushAll()
            _ = try await (first, second)
            try await scene.expectRows(numbers, on: devices[0], devices[1])
        },
    ]

    // MARK: Gateways

    private static let page = "<!DOCTYPE html><html><head><title>Sign in</title></head><body>Sign in</body></html>"

    /// The responses of something between the client and the server: to all requests, or only to those of rows.
    private static let answers: [(id: String, name: String, statuses: [Int], body: String, isForAll: Bool)] = [
        ("DIA-301", "a web page with the status 200", [200], page, true),
        ("DIA-302", "404 to every request", [404], #"{"error":"no route"}"#, true),
        ("DIA-303", "409 to every request", [409], "", true),
        ("DIA-304", "403 with a web page to every request", [403], page, true),
        ("DIA-305", "503 with a web page to every request", [503], page, true),
        ("DIA-306", "404 or 410 to the requests of rows", [404, 410], #"{"error":"no route"}"#, false),
        ("DIA-307", "409 to the changes of rows", [409], #"{"error":"busy"}"#, false),
        ("DIA-308", "200 with another service's JSON", [200], #"{"status":"ok"}"#, true),
    ]

    static let gateways: [DialectCheck] =
        answers.map { answer in
            DialectCheck(
                answer.id, "A gateway that answers \(answer.name) neither loses edits nor makes rows look deleted",
                "believe a status only with what the server alone sends: a header, a field of its errors; and throw in page "
                    + "and meaning for a body that is not the server's"
            ) { try await checkGateway($0, answer.statuses, answer.body, isForAll: answer.isForAll) }
        } + [
            DialectCheck(
                "DIA-309", "After 503 with Retry-After, the client waits that long and then succeeds",
                "use AnswerMeaning(byStatusOf:), which reads Retry-After"
            ) { scene in
                let (one, two, ids) = try await scene.pair(1)
                try await one.update(ids[0], 2)
                one.network.rule = { number, _ in number == 0 ? .answer(response(503, "", retryAfter: 1)) : nil }
                try await one.pushAll()
                guard one.network.waits.contains(where: { $0 >= .seconds(1) && $0 < .seconds(60) }) else {
                    throw BrokenPromise("the waits: expected: one of a second; found: \(one.network.waits)")
                }
                let last = try await one.contents()[ids[0]] ?? Row()
                try await scene.expectRows([last], on: one, two)
            }
        ]

    /// Makes one change of each kind, of which the server sees nothing, and then lets the server answer.
    private static func checkGateway(
        _ scene: DialectScene, _ statuses: [Int], _ body: String, isForAll: Bool
    ) async throws {
        let (one, two, ids) = try await scene.pair(1, 2)
        let inserted = scene.newID()
        try await one.update(ids[0], 3)
        try await one.delete(ids[1])
        try await one.insert(inserted, 4)
        let local = try await one.contents()
        var errors: [TableOperationError] = []
        for status in statuses + statuses {
            one.network.rule = { _, request in
                let path = (request.path ?? "").prefix { $0 != "?" }
                let isOfRow = request.method != .get || (ids + [inserted]).contains { path.contains($0) }
                return isForAll || isOfRow ? .answer(response(status, body)) : nil
            }
            do {
                errors += try await one.push()
            } catch is SyncError {
                // The round ended as unreachable.
            }
            _ = try? await one.pull()
        }
        try await scene.expect(one.contents(), local, "the local rows behind the gateway")
        if let error = errors.first(where: { $0.isRowGone || $0.code == .conflict }) {
            throw BrokenPromise("the errors of the push: expected: no conflict and no row gone; found: \(error)")
        }
        try await one.settle()
        try await scene.expectRows(Array(local.values), on: one, two)
    }

    static func response(_ status: Int, _ body: String, retryAfter: Int? = nil) -> TransportResponse {
        var response = HTTPResponse(status: .init(code: status))
        response.headerFields[.contentType] = body.hasPrefix("<") ? "text/html" : "application/json"
        response.headerFields[.retryAfter] = retryAfter.map(String.init)
        return TransportResponse(response: response, body: Array(body.utf8))
    }
}

extension DialectScene {
    /// Returns rows with values that are easily changed on their way, of each type.
    fileprivate func samples() -> [Row] {
        let texts = [
            "", " ", "é\u{1F600}e\u{301}\u{202E}\u{2028}\u{FEFF}", "\"\\/\u{8}\n\r\t\u{1}\u{7F}", "%2F+&=';--",
            String(repeating: "tide ", count: 2_000), "null",
        ]
        let integers: [Int64] = [.max, .min, 0, -1, 1 << 53 + 1, 1 << 31, 7]
        let doubles: [Double] = [0.1, 1e300, -1e-300, 0.333, 2, 123_456_789.125, .leastNonzeroMagnitude]
        let times: [Int64] = [1_795_799_290_922, 0, -1, 253_402_300_799_999, 1_709_164_800_001, 1, 951_782_400_000]
        let documents = [
            "{}", "[]", #"{"a":[1,2.5,null,true],"b":{"c":"é"}}"#, "[[[]]]", #"["é"]"#, #"{"":0}"#,
            "[9007199254740993]",
        ]
        return texts.indices.map { index in
            var row = Row(id: .string(newID()))
            for column in columns {
                row[column.name] =
                    switch column.type {
                    case .string: .string(texts[index])
                    case .int: .int(integers[index])
                    case .double: .double(doubles[index])
                    case .timestamp: Timestamp(milliseconds: times[index]).map { .timestamp($0) } ?? .null
                    case .json: .json(documents[index])
                    case .bool: .bool(index.isMultiple(of: 2))
                    case .bytes: .bytes(Array(texts[index].utf8))
                    }
            }
            return row
        }
    }
}
