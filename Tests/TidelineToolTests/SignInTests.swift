#if Tool
import ArgumentParser
import Foundation
import HTTPTypes
import JWTKit
import Testing
import TidelineTestSupport

@testable import TidelineTool

/// `tideline serve` with a sign-in, run as a process, and its clients.
@Suite("Sign-in", .timeLimit(.minutes(15)))
struct SignInTests {
    let tool: Tool

    init() throws { tool = try Tool() }

    private func token(of user: String, _ changes: [String: TokenClaims.Claim?] = [:]) async throws -> String {
        try await TokenMaker.hs256(TokenMaker.claims(changes.merging(["sub": .text(user)]) { $1 }))
    }

    private var schema: String {
        """
        tables:
          TodoItem:
            columns: { text: string, complete: bool, userId: string }
            owner: userId
          Country:
            columns: { name: string }
            rights: { read: anyone, insert: nobody, update: nobody, delete: nobody }
          Shared:
            columns: { name: string }
        """
    }

    /// Starts a server with the schema that knows the secret.
    private func startServer(_ arguments: String...) throws -> (process: ToolProcess, url: String) {
        let path = try tool.write(schema, to: "schema.yaml")
        let secret = try tool.write(TokenMaker.secret + "\n", to: "secret")
        return try tool.startServer(["--schema", path, "--jwt-secret-file", secret] + arguments)
    }

    /// Syncs the list of a user with the token in the user's file.
    private func sync(_ user: String, _ url: String) throws -> ToolProcess.Output {
        try tool.todo("sync", "--url", url, "--token-file", tool.path("\(user).token"), store: "\(user).db")
    }

    @Test("Two users sync with one server, and each sees only their own items")
    func twoUsers() async throws {
        let (server, url) = try startServer("--log-level", "debug")
        var tokens: [String] = []
        for user in ["alice", "bob"] {
            tokens.append(try await token(of: user))
            try tool.write(tokens[tokens.count - 1] + "\n", to: "\(user).token")
            try tool.todo("add", "Private of \(user)", store: "\(user).db").expect(0)
            try sync(user, url).expect(0)
        }
        for (user, other) in [("alice", "bob"), ("bob", "alice")] {
            #expect(try sync(user, url).status == 0)
            let list = try tool.todo("list", store: "\(user).db").out
            #expect(list.contains("Private of \(user)") && !list.contains(other), "\(list)")
            let me = try await send(.get, "/.auth/me", to: url, token: tokens[user == "alice" ? 0 : 1])
            #expect(String(decoding: me.body, as: UTF8.self) == #"{"userId":"\#(user)"}"#)
        }
        server.stop()
        let log = server.errors()
        #expect(log.contains("answered") && !log.contains(TokenMaker.secret))
        for token in tokens { #expect(!log.contains(token) && !log.contains(token.split(separator: ".")[2])) }
    }

    @Test("Without a token, with an expired one, or without its file, a sync is an error that says so")
    func tokensOfSync() async throws {
        let (_, url) = try startServer()
        #expect(try tool.todo("add", "Later", store: "alice.db").status == 0)
        try tool.todo("sync", "--url", url, store: "alice.db").expect(1, "authentication")
        try tool.write(try await token(of: "alice", ["exp": .number(1)]), to: "alice.token")
        try sync("alice", url).expect(1, "expired")
        try tool.write(try await token(of: "alice"), to: "alice.token")
        #expect(try sync("alice", url).status == 0)
        try tool.todo("sync", "--url", url, "--token-file", tool.path("none"), store: "alice.db")
            .expect(1, "none cannot be opened")
        try tool.write("", to: "alice.token")
        try sync("alice", url).expect(1, "alice.token is empty")
    }

    @Test("Requests are answered by the rights of the schema file, and /.auth/me by the token")
    func rights() async throws {
        let (_, url) = try startServer()
        let alice = try await token(of: "alice")
        func status(
            _ method: HTTPRequest.Method, _ path: String, _ token: String?, _ body: String? = nil
        ) async throws -> Int {
            try await send(method, path, to: url, token: token, body: body).response.status.code
        }
        #expect(try await status(.get, "/tables/Country", nil) == 200)
        #expect(try await status(.post, "/tables/Country", alice, #"{"id":"1"}"#) == 403)
        #expect(try await status(.get, "/tables/Shared", nil) == 401)
        #expect(try await status(.get, "/tables/Other", nil) == 401)
        #expect(try await status(.post, "/tables/Shared", alice, #"{"id":"1"}"#) == 201)
        #expect(try await status(.post, "/tables/TodoItem", alice, #"{"id":"1","userId":"bob"}"#) == 403)
        // A token that is not valid is refused even where none is needed.
        #expect(try await status(.get, "/tables/Country", "x") == 401)
        let refused = try await send(.get, "/tables/Shared", to: url, token: alice + "x")
        #expect(refused.response.status == .unauthorized)
        #expect(refused.response.headerFields[.wwwAuthenticate] == "Bearer")
        #expect(String(decoding: refused.body, as: UTF8.self).contains("signature"))
        let zumo = HTTPField.Name("X-ZUMO-AUTH")!
        #expect(try await send(.get, "/tables/Shared", to: url, token: alice, header: zumo).response.status == .ok)
        let nobody = try await send(.get, "/.auth/me", to: url)
        #expect(nobody.response.status == .unauthorized && nobody.response.headerFields[.wwwAuthenticate] == "Bearer")
        #expect(try await status(.post, "/.auth/me", alice, "{}") == 405)
    }

    @Test("A request without the right to write is answered before its body is received")
    func refusedBodies() async throws {
        let (_, url) = try startServer()
        for (path, status) in [
            ("/tables/Shared", 401), ("/tables/Other", 401), ("/tables/Country", 403), ("/elsewhere", 404),
        ] {
            // The body never ends.
            let rest = "Host: localhost\r\nZUMO-API-VERSION: 2.0.0\r\nContent-Length: 100\r\n\r\n{"
            let answer = try await RawConnection.answer(of: url, to: "POST \(path) HTTP/1.1\r\n\(rest)")
            #expect(answer.status == status && answer.error?.isEmpty == false, "\(path): \(answer)")
            #expect(answer.headers["www-authenticate"] == (status == 401 ? "Bearer" : nil))
        }
    }

    @Test("A key set on a server is used, and followed when its keys change")
    func keySet() async throws {
        let maker = try TokenMaker()
        let keys = try await DocumentServer(TokenMaker.keySet([maker.rsaJWK(kid: "1"), maker.ecJWK(kid: "2")]))
        let (_, url) = try tool.startServer(
            "--jwks", keys.url, "--jwt-issuer", "https://id.example.com/", "--jwt-audience", "todo")
        let claims = TokenMaker.claims(["iss": .text("https://id.example.com/"), "aud": .texts(["todo"])])
        for token in [try await maker.rs256(claims, kid: "1"), try await maker.es256(claims, kid: "2")] {
            #expect(try await send(.get, "/.auth/me", to: url, token: token).response.status == .ok)
        }
        let others = [
            try await maker.rs256(kid: "1"), try await maker.es256(claims, kid: "1"),
            try await TokenMaker.hs256(claims),
        ]
        for token in others {
            #expect(try await send(.get, "/.auth/me", to: url, token: token).response.status == .unauthorized)
        }
        #expect(keys.requests == 1)
        try await keys.stop()
    }

    @Test("Rights that cannot be enforced are an error with their location, and no file is created")
    func rightsWithoutSignIn() throws {
        for text in [schema, "tables:\n  A:\n    columns: { a: string }\n    rights: anyone"] {
            let path = try tool.write(text, to: "schema.yaml")
            try tool.run("serve", "--port", "0", "--store", "sqlite:\(tool.path("server.db"))", "--schema", path)
                .expect(1, "\(path):4: table \"", "--jwt-key")
            #expect(!FileManager.default.fileExists(atPath: tool.path("server.db")))
        }
    }

    @Test(
        "Other machines are served only with a sign-in",
        arguments: ["0.0.0.0", "::", "192.168.1.1", "example.com", "127.0.0.1.example.com", "localhost.example.com"])
    func otherMachines(_ host: String) throws {
        try tool.run("serve", "--host", host, "--port", "0", "--store", "sqlite:\(tool.path("server.db"))")
            .expect(64, "--jwt-key", "--allow-anonymous")
        #expect(try TidelineCommand.parseAsRoot(["serve", "--host", host, "--allow-anonymous"]) is ServeCommand)
        #expect(try TidelineCommand.parseAsRoot(["serve", "--host", host, "--jwt-key", "k.pem"]) is ServeCommand)
    }

    @Test(
        "Addresses of this machine need no sign-in", arguments: ["localhost", "127.0.0.1", "127.9.9.9", "::1", "[::1]"])
    func thisMachine(_ host: String) throws {
        #expect(try TidelineCommand.parseAsRoot(["serve", "--host", host]) is ServeCommand)
    }

    @Test(
        "Options that would weaken the sign-in are refused",
        arguments: [
            ["--jwks", "https://example.com/keys"], ["--jwks", "https://example.com/keys", "--jwt-issuer", "a"],
            ["--jwks", "keys.json", "--jwt-audience", "a"], ["--jwt-issuer", "a"], ["--jwt-audience", "a"],
            ["--jwt-key", "a", "--jwt-clock-skew", "3601"], ["--jwt-key", "a", "--jwt-clock-skew", "-1"],
            ["--jwt-key", "a", "--jwt-user-claim", ""],
        ])
    func weakOptions(_ arguments: [String]) throws {
        let error = try #require(
            #expect(throws: (any Error).self) { try TidelineCommand.parseAsRoot(["serve"] + arguments) })
        #expect(TidelineCommand.exitCode(for: error).rawValue == 64)
    }

    @Test("Tokens are signed with a secret of the environment, with or without the line break at its end")
    func issuersOfEnvironment() async throws {
        let secret = TokenMaker.secret + "\n"
        let path = try tool.write(schema, to: "schema.yaml")
        let server = try ToolProcess(
            [
                "TIDELINE_JWT_SECRET=\(secret)", tool.executable.path, "serve", "--port", "0", "--store", "memory",
                "--schema", path,
            ], keepsErrors: true, executable: URL(fileURLWithPath: "/usr/bin/env"))
        defer { server.stop() }
        let url = String(try #require(server.readLine()?.split(separator: " ").last))
        for (key, status) in [(TokenMaker.secret, 200), (secret, 200), (TokenMaker.secret + "\n\n", 401)] {
            let token = try await TokenMaker.hs256(secret: key)
            let answer = try await send(.get, "/tables/TodoItem", to: url, token: token)
            #expect(answer.response.status.code == status, "\(key.debugDescription)")
        }
    }

    @Test("A line break at the end of a secret in the environment is no part of its length")
    func secretInEnvironment() throws {
        let secret = String(repeating: "s", count: 31)
        for (text, bytes) in [(secret + "\n", 31), (secret + "\r\n", 31), ("\n", 0)] {
            try ToolProcess.run(
                "/usr/bin/env", "TIDELINE_JWT_SECRET=\(text)", tool.executable.path, "serve", "--check", "--store",
                "memory"
            ).expect(1, "TIDELINE_JWT_SECRET has \(bytes) bytes")
        }
    }

    @Test("A key file that cannot be used is an error that names it, and never its content")
    func keyFiles() throws {
        let content = "short and private"
        for option in ["--jwt-secret-file", "--jwt-key"] {
            for path in [tool.path("none"), tool.folder.path, try tool.write(content, to: "key")] {
                let output = try tool.run("serve", "--port", "0", "--store", "memory", option, path).expect(1, path)
                #expect(!output.err.contains(content), "\(output.err)")
            }
        }
        for option in ["--jwt-secret-file", "--jwt-key", "--jwks"] {
            let path = try tool.write("", to: "empty")
            let output = try tool.run(
                "serve", "--port", "0", "--store", "memory", option, path, "--jwt-issuer", "a", "--jwt-audience", "b"
            ).expect(1, path)
            #expect(!output.err.contains("folder"), "\(output.err)")
        }
        let output = try tool.run(
            "serve", "--port", "0", "--store", "memory", "--jwks", "https://user:private@example.com/keys",
            "--jwt-issuer", "a", "--jwt-audience", "b"
        ).expect(1, "--jwks")
        #expect(!output.err.contains("private"), "\(output.err)")
    }
}
#endif
