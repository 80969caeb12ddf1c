public import HTTPTypes
internal import TidelineStore
internal import TidelineWire

extension SyncClient {
    /// Calls an API of the server's own, at `/api/{name}`.
    ///
    /// GET, HEAD, PUT, DELETE and OPTIONS are tried again as ``SyncOptions/retry`` says; others, which the server might
    /// carry out twice, are sent once.
    /// - Parameters:
    ///   - name: The name of the API; `/` parts the segments of a path.
    ///   - method: The method; POST by default.
    ///   - parameters: Added to the address.
    ///   - headers: Sent in place of ``SyncOptions/headers`` and the default headers of the same name.
    ///   - body: The body, nil for none; `Content-Type` is `application/json` unless `headers` say otherwise.
    /// - Returns: The answer, one of success (200 to 299).
    /// - Throws: ``SyncError``: ``SyncError/Code/invalidArgument`` for a name or parameter that no address may hold; for an
    ///   answer of failure ``SyncError/Code/authentication`` (401), ``SyncError/Code/network`` (408, 429, 503),
    ///   ``SyncError/Code/serverFailed`` (500, 502, 504) or ``SyncError/Code/rejected``, with ``SyncError/status``.
    public func invokeAPI(
        _ name: String, method: HTTPRequest.Method = .post, parameters: [(name: String, value: String)] = [],
        headers: HTTPFields = [:], body: [UInt8]? = nil
    ) async throws -> TransportResponse {
        do {
            let request = try context.dialect.invokeAPI(
                name, method: method, parameters: parameters.map { ($0.name, $0.value) }, headers: headers, body: body)
            let isRepeatable = [.get, .head, .put, .delete, .options].contains(method)
            let answer = try await context.connection.send(request, retries: isRepeatable)
            guard (200..<300).contains(answer.response.status.code) else { throw context.dialect.failure(answer) }
            return answer
        } catch {
            throw context.syncError(error)
        }
    }

    /// The user who is signed in; nil for none. Its token goes with every request, unless
    /// ``SyncOptions/authorization`` returns a header.
    public var currentUser: SignedInUser? {
        get { context.connection.account.user }
        set { context.connection.account.user = newValue }
    }

    /// Signs a user in with the token of an identity provider, at `/.auth/login/{provider}`, and makes it
    /// ``currentUser``.
    ///
    /// - Parameters:
    ///   - provider: The provider as the server names it: `facebook`, `google`, `aad`, `microsoftaccount`, `apple`.
    ///   - token: What the provider's SDK returned, such as `["access_token": "…"]`.
    /// - Throws: ``SyncError``, as ``invokeAPI(_:method:parameters:headers:body:)``;
    ///   ``SyncError/Code/invalidAnswer`` for an answer without a user and its token. ``currentUser`` is as before then.
    @discardableResult
    public func signIn(provider: String, token: [String: String]) async throws -> SignedInUser {
        do {
            let request = try context.dialect.signIn(provider: provider, token: token)
            var answer = try await context.connection.send(request, retries: false, signsIn: false)
            guard (200..<300).contains(answer.response.status.code) else {
                answer.redact(Array(token.values))
                throw context.dialect.failure(answer)
            }
            let user = try signedInUser(in: answer)
            currentUser = user
            return user
        } catch {
            throw context.syncError(error)
        }
    }

    private func signedInUser(in answer: TransportResponse) throws -> SignedInUser {
        do {
            let (id, token) = try context.dialect.signedInUser(answer.body)
            return SignedInUser(userID: id, authenticationToken: token)
        } catch {
            throw SyncError(
                .invalidAnswer, "the answer to the sign-in cannot be used: \(error.message)",
                status: answer.response.status.code)
        }
    }
}
