public import HTTPTypes
internal import TidelineStore
internal import TidelineWire

extension SyncClient {
    /// Calls a custom API of the server at `/api/{name}`.
    ///
    /// GET, HEAD, PUT, DELETE, and OPTIONS requests are retried as ``SyncOptions/retry`` specifies. Other requests are
    /// sent once because the server might process them twice.
    /// - Parameters:
    ///   - name: The name of the API. `/` separates path segments.
    ///   - method: The method; POST by default.
    ///   - parameters: Query parameters to add to the URL.
    ///   - headers: Headers that replace ``SyncOptions/headers`` and default headers of the same name.
    ///   - body: The body, or `nil` if there is none. `Content-Type` is `application/json` unless `headers` specifies
    ///     another type.
    /// - Returns: The response, with a status from 200 to 299.
    /// - Throws: ``SyncError``: ``SyncError/Code/invalidArgument`` for a name or parameter that is not valid in a URL;
    ///   for a failed response ``SyncError/Code/authentication`` (401), ``SyncError/Code/network`` (408, 429, 502, 503,
    ///   504; and redirects, statuses of proxies, and web pages, which are not the service's),
    ///   ``SyncError/Code/serverFailed`` (500), or ``SyncError/Code/rejected``, with ``SyncError/status``.
    public func invokeAPI(
        _ name: String, method: HTTPRequest.Method = .post, parameters: [(name: String, value: String)] = [],
        headers: HTTPFields = [:], body: [UInt8]? = nil
    ) async throws -> TransportResponse {
        try await SyncError.wrappingErrors {
            let service = try context.tableService
            let request = try service.wire.invokeAPI(
                name, method: method, parameters: parameters.map { ($0.name, $0.value) }, headers: headers, body: body)
            let isRepeatable = [.get, .head, .put, .delete, .options].contains(method)
            let answer = try await context.connection.send(service.call(request), retries: isRepeatable)
            guard answer.kind == .done else { throw answer.failure() }
            return answer.response
        }
    }

    /// The signed-in user, or `nil` if there is none. The user's token is sent with every request unless
    /// ``SyncOptions/authorization`` returns a header.
    ///
    /// The user belongs to the owner of the local store, besides ``SyncOptions/userID``. The first user to sign in
    /// adopts what nobody owns, with the next local change, push of pending operations, or page of a pull. After that,
    /// pushes, pulls, and local changes while another user is signed in throw ``SyncError/Code/otherUser``, and nothing
    /// is sent. A push or pull that is running when another user signs in ends with this error. A running sync tries
    /// again at once when a user signs in. While nobody is signed in, local changes belong to the store's owner, and
    /// pushes and pulls throw ``SyncError/Code/authentication``, unless ``SyncOptions/authorization`` or
    /// ``SyncOptions/userID`` is set. To let another user use the store, call ``wipe()``.
    public var currentUser: SignedInUser? {
        get { context.connection.account.user }
        set {
            context.connection.setUser(newValue)
            if newValue != nil { sync.post(.signedIn) }
        }
    }

    /// Signs in a user with the token of an identity provider at `/.auth/login/{provider}`, and sets ``currentUser``.
    ///
    /// - Parameters:
    ///   - provider: The provider's name on the server: `facebook`, `google`, `aad`, `microsoftaccount`, or `apple`.
    ///   - token: The token from the provider's SDK, such as `["access_token": "…"]`.
    /// - Throws: ``SyncError``, as ``invokeAPI(_:method:parameters:headers:body:)``; ``SyncError/Code/invalidAnswer``
    ///   for a response without a user and token. ``currentUser`` does not change then.
    @discardableResult
    public func signIn(provider: String, token: [String: String]) async throws -> SignedInUser {
        try await SyncError.wrappingErrors {
            let service = try context.tableService
            let call = service.call(try service.wire.signIn(provider: provider, token: token))
            var answer = try await context.connection.send(call, retries: false, signsIn: false)
            guard answer.kind == .done else {
                answer.response.redact(Array(token.values))
                answer.meaning = try call.meaning(answer.response)
                throw answer.failure()
            }
            let user = try signedInUser(in: answer, service)
            currentUser = user
            return user
        }
    }

    private func signedInUser(in answer: ServerAnswer, _ service: TableServiceDialect) throws -> SignedInUser {
        do {
            let (id, token) = try service.wire.signedInUser(answer.response.body)
            return SignedInUser(userID: id, authenticationToken: token)
        } catch {
            throw SyncError(
                .invalidAnswer, "the response to the sign-in cannot be read: \(error.message)",
                status: answer.status)
        }
    }
}
