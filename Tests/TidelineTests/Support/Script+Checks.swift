import TidelineStore

@testable import Tideline

/// The expectations of a script.
extension StepPlayer {
    func check(_ words: [String]) async throws {
        let operations = try await client.context.pendingOperations()
        let rest = words.dropFirst().joined(separator: " ")
        func list(_ found: [String]) throws { try expect("[\(found.joined(separator: ", "))]", rest) }
        switch words[0] {
        case "local", "queue", "server":
            let state = try world.state(client)
            for part in words.joined(separator: " ").split(separator: #/ (?=(?:queue|server) \[)/#)
            where !state.contains(part) { try expect(state, String(part)) }
        case "errors": try await list(client.context.operationErrors().map { "\($0.itemID) \($0.code.rawValue)" })
        case "failed": try list(failures.map(\.itemID))
        case "error": for word in words.dropFirst() { try checkError(word) }
        case "row": try check(words, client.row(words[1]))
        case "remote": try check(words, world.serverRow(words[1]))
        case "both":
            try check(words, client.row(words[1]))
            try check(words, world.serverRow(words[1]))
        case "same": try expect(client.row(rest)?.version ?? "none", world.serverRow(rest)?.version ?? "missing")
        case "bases": try list(operations.map { $0.baseVersion == remembered ? "?" : $0.baseVersion ?? "nil" })
        case "attempts": try expect("[\(operations.map { "\($0.attempts)" }.joined(separator: " "))]", rest)
        case "problems": try list(operations.map { $0.lastError ?? "nil" })
        case "unsure": try expect("\(operations.flatMap(\.sent).count)", rest)
        case "pulled": try expectPart(rest, of: operations.first?.pulled)
        case "decisions": try await list(client.client.decisions().map(\.rule))
        case "requests": try expect("\(client.transport.requests.count)", rest)
        case "sent": try list(log)
        default: try checkPull(words, rest)
        }
    }

    private func checkPull(_ words: [String], _ rest: String) throws {
        func list(_ found: [String]) throws { try expect("[\(found.joined(separator: ", "))]", rest) }
        switch words[0] {
        case "listed": try expect("\(client.listRequests.count)", rest)
        case "asks":
            for request in client.transport.requests where request.removingPercentEncoding?.contains(rest) != true {
                try expect(request, rest)
            }
        case "methods": try list(client.transport.sent.map(\.request.method.rawValue))
        case "pushed": try expect("\(pushed)", rest)
        case "calls": try list(delegate?.calls ?? [])
        case "texts": try list(client.texts())
        case "whole":
            let (found, expected) = (try client.store.versions(), try world.serverVersions())
            if found != expected { try expect("\(found)", "\(expected)") }
        case "tokens": try list(client.store.tokens().keys.sorted())
        case "result": try checkResult(words.dropFirst())
        default: throw StepFailure(description: "there is no such step")
        }
    }

    func check(_ words: [String], _ row: Row?) throws {
        for word in words.dropFirst(2) {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            let expected = word == "version=?" ? remembered ?? "nothing remembered" : parts[1]
            try expect("\(parts[0])=\(Self.plain(row?[parts[0]]))", "\(parts[0])=\(expected)")
        }
    }

    private func checkResult(_ words: some Sequence<String>) throws {
        let counts = [
            "requests": result.requests, "pulled": result.rowsPulled, "stored": result.rowsStored,
            "removed": result.rowsRemoved, "leavers": result.leaversRemoved, "writes": result.writes,
        ]
        for word in words {
            let key = String(word.prefix { $0 != "=" })
            try expect("\(key)=\(counts[key] ?? -1)", word)
        }
    }

    private func checkError(_ word: String) throws {
        let key = String(word.prefix { $0 != "=" })
        let column = key.split(separator: ".").last.map(String.init) ?? ""
        if key == "says" {
            return try expectPart(String(word.dropFirst(5)), of: failures.first?.message ?? failure?.message)
        }
        guard let error = failures.first else { return try checkFailure(key, word) }
        let found =
            switch key {
            case "code": error.code.rawValue
            case "kind": "\(error.kind)"
            case "table": error.table
            case "status": error.status.map { "\($0)" } ?? "nil"
            case "message": error.message
            case "cause": error.cause.map { "\(type(of: $0))" } ?? "nil"
            case "gone": "\(error.isRowGone)"
            case "server": error.serverItem == nil ? "nil" : "row"
            default: Self.plain(key.hasPrefix("server") ? error.serverItem?[column] : error.item?[column])
            }
        try expect("\(key)=\(found)", word.replacing("version=?", with: "version=\(remembered ?? "nothing")"))
    }

    /// Checks the error of the last push or pull, which has no errors of operations.
    private func checkFailure(_ key: String, _ word: String) throws {
        guard let failure else { throw StepFailure(description: "there is no error") }
        let found: String? =
            switch key {
            case "code": failure.code.rawValue
            case "status": failure.status.map { "\($0)" }
            case "table": failure.table
            case "column": failure.column
            default: failure.id
            }
        try expect("\(key)=\(found ?? "nil")", word)
    }

    private func expectPart(_ part: String, of text: String?) throws {
        if text?.contains(part) != true { try expect(text ?? "nothing", part) }
    }

    static func plain(_ value: Value?) -> String {
        switch value {
        case .string(let text)?: text
        case .int(let int)?: "\(int)"
        case .double(let double)?: "\(double)"
        case .bool(let bool)?: "\(bool)"
        case .json(let text)?: text
        case nil, .null?: "null"
        case let other?: "\(other)"
        }
    }
}
