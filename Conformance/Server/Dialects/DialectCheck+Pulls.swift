internal import HTTPTypes
internal import Synchronization
internal import Tideline
internal import TidelineStore

extension DialectCheck {
    static let pulls: [DialectCheck] = [
        DialectCheck(
            "DIA-401", "A pull returns every row once, whatever the size of its pages",
            "the cursor of a page is the position after its last row, and only the last page has isLast"
        ) { scene in
            let (_, _, ids) = try await scene.pair(0, 1, 2, 3, 4, 5, 6)
            let expected = Dictionary(
                uniqueKeysWithValues: ids.enumerated().map { ($1, scene.content(scene.row($1, $0))) })
            for size in 1...8 {
                let device = try await scene.device()
                try await device.pull(pageSize: size)
                try await scene.expect(device.contents(), expected, "the rows after a pull in pages of \(size)")
            }
        },
        DialectCheck(
            "DIA-402", "Changes and deletions since the last pull arrive, in pages of one row and of many",
            "list changed and deleted rows after the cursor"
        ) { scene in
            let (one, two, ids) = try await scene.pair(0, 1, 2, 3)
            let three = try await scene.device()
            try await three.pull()
            for number in 0..<3 { try await one.update(ids[number], 10 + number) }
            try await one.delete(ids[3])
            try await one.pushAll()
            let expected = try await one.contents()
            for (device, size) in [(two, 1), (three, 1_000)] {
                try await device.pull(pageSize: size)
                try await scene.expect(device.contents(), expected, "the rows after a pull in pages of \(size)")
            }
        },
        DialectCheck(
            "DIA-403", "A deletion arrives at a client that has the row",
            "list deleted rows, as rows with the column deleted, or in ServerPage.deletedIDs"
        ) { scene in
            let (one, two, ids) = try await scene.pair(1, 2)
            try await one.delete(ids[0])
            try await one.pushAll()
            try await two.pull()
            try await scene.expect(Set(two.contents().keys), [ids[1]], "the rows of the other client")
        },
        DialectCheck(
            "DIA-404", "A page of which half is missing is not taken for a page",
            "throw for a body that ends early"
        ) { scene in
            let (_, _, ids) = try await scene.pair(0, 1, 2, 3, 4)
            for page in 0..<3 {
                let device = try await scene.device()
                device.network.rule = { number, _ in number == page ? .cut : nil }
                _ = try? await device.pull(pageSize: 2)
                device.network.rule = nil
                try await device.pull(pageSize: 2)
                try await scene.expect(Set(device.contents().keys), Set(ids), "the rows after page \(page) was cut")
            }
        },
        DialectCheck(
            "DIA-405", "A page whose response was lost is read again, and no row is missing or doubled",
            "a request for a page depends on its cursor only"
        ) { scene in
            let (_, _, ids) = try await scene.pair(0, 1, 2, 3, 4)
            for page in 0..<3 {
                let device = try await scene.device()
                device.network.rule = { number, _ in (page..<page + 6).contains(number) ? .loseAnswer : nil }
                _ = try? await device.pull(pageSize: 2)
                device.network.rule = nil
                try await device.pull(pageSize: 2)
                try await scene.expect(Set(device.contents().keys), Set(ids), "the rows after page \(page) was lost")
            }
        },
        DialectCheck(
            "DIA-406", "Changes during a pull arrive, at the latest with the next one",
            "a change after the last page must come after its cursor"
        ) { scene in
            _ = try scene.mark()
            let (one, _, ids) = try await scene.pair(0, 1, 2, 3, 4, 5)
            let (device, inserted) = (try await scene.device(), (0..<4).map { _ in scene.newID() })
            device.network.rule = { number, _ in
                guard number < 4 else { return nil }
                return .after {
                    try await one.update(ids[number], 20 + number)
                    try await one.insert(inserted[number], number)
                    if number == 2 { try await one.delete(ids[5]) }
                    try await one.pushAll()
                }
            }
            try await device.pull(pageSize: 2)
            device.network.rule = nil
            let expected = Array(try await one.contents().values)
            try await scene.expectRows(expected, on: device)
        },
        DialectCheck(
            "DIA-407", "After the server was emptied, pulls and pushes go on with its new rows",
            "the meaning of a page is gone if the server no longer knows the cursor"
        ) { scene in
            guard let empty = scene.suite.emptyServer else {
                throw SkippedCheck(reason: "DialectConformance.emptyServer is not set")
            }
            let (_, two, _) = try await scene.pair(0, 1, 2)
            try await empty()
            let (three, id) = (try await scene.device(), scene.newID())
            try await three.insert(id, 3)
            try await three.pushAll()
            try await two.pull()
            let found = try await two.contents()[id]
            try scene.expect(found, scene.content(scene.row(id, 3)), "the new row on a client of before")
        },
        DialectCheck(
            "DIA-408", "A change that becomes visible after a later one arrives",
            "set ServerPage.nextPull to the server's time less PageRequest.lookback, or to its newest change"
        ) { scene in
            guard let hold = scene.suite.holdNextChange else {
                throw SkippedCheck(reason: "DialectConformance.holdNextChange is not set")
            }
            let (one, two, ids) = try await scene.pair(0, 1)
            let release = try await hold()
            try await one.update(ids[0], 2)
            try await one.pushAll()
            try await one.update(ids[1], 3)
            try await one.pushAll()
            // Longer than the pushes take on a slow network.
            try await two.pull(lookback: .seconds(3_600))
            try await release()
            try await scene.expectRows(Array(one.contents().values), on: two)
        },
    ]

    // MARK: Lost responses

    static let losses: [DialectCheck] = [
        DialectCheck(
            "DIA-501", "A change whose response was lost is carried out once, whichever response that was",
            "changes are conditional on the version, and a conflict shows the row"
        ) { scene in
            for number in 0..<6 {
                let (one, _, ids) = try await scene.pair(1, 2)
                let inserted = scene.newID()
                try await one.update(ids[0], 3)
                try await one.delete(ids[1])
                try await one.insert(inserted, 4)
                let expected = Array(try await one.contents().values)
                one.network.rule = { count, _ in count == number ? .loseAnswer : nil }
                _ = try? await one.push(maxInFlight: number.isMultiple(of: 2) ? 1 : 8)
                try await one.settle()
                let fresh = try await scene.device()
                try await fresh.pull()
                let found = try await fresh.contents().filter { (ids + [inserted]).contains($0.key) }
                let wanted = Dictionary(
                    uniqueKeysWithValues: expected.filter { (ids + [inserted]).contains($0.idText) }
                        .map { ($0.idText, scene.content($0)) })
                try scene.expect(found, wanted, "the server's rows after response \(number) was lost")
            }
        },
        DialectCheck(
            "DIA-502", "A change whose response was lost does not overwrite a later change of another client",
            "an update must only be done if the row has RowRequest.version"
        ) { scene in
            let (one, two, ids) = try await scene.pair(1)
            try await one.update(ids[0], 2)
            one.network.rule = { _, _ in .loseAnswer }
            _ = try? await one.push()
            one.network.rule = nil
            try await two.pull()
            try await two.update(ids[0], 3)
            try await two.pushAll()
            let newest = try await two.contents()[ids[0]] ?? Row()
            _ = try? await one.push()
            try await scene.expectRows([newest], on: two)
        },
        DialectCheck(
            "DIA-503", "Two clients that lose a third of their responses end with the same rows as the server",
            "see DIA-201 to DIA-207, and DIA-501"
        ) { scene in
            let (one, two, ids) = try await scene.pair(0, 1, 2, policy: .clientWins)
            for round in 1...6 {
                for (index, device) in [one, two].enumerated() {
                    device.network.rule = { number, _ in (number + round + index).isMultiple(of: 3) ? .loseAnswer : nil
                    }
                    for (position, id) in ids.enumerated() where (round + position + index).isMultiple(of: 2) {
                        guard try await device.table.row(id: id) != nil else { continue }
                        if round == 4, position == index {
                            try await device.delete(id)
                        } else {
                            try await device.update(id, 100 * round + 10 * index + position)
                        }
                    }
                    _ = try? await device.push()
                    _ = try? await device.pull(pageSize: 2)
                }
            }
            for _ in 1...2 { for device in [one, two] { try await device.settle() } }
            try await scene.expectRows(Array(one.contents().values), on: one, two)
        },
    ]

    static let signals: [DialectCheck] = [
        DialectCheck(
            "DIA-601", "A change between the first pull and the first request of the change signals arrives",
            "let the sequence begin with a name, as soon as it would signal a change"
        ) { scene in
            guard scene.suite.hasChangeSignals else {
                throw SkippedCheck(reason: "DialectConformance.hasChangeSignals is not set")
            }
            let (one, _, _) = try await scene.pair(1)
            let (device, id) = (try await scene.device(waits: true), scene.newID())
            let first = try await scene.device()
            try await first.pull()
            let (target, gate) = (first.network.targets.first, Gate())
            device.network.rule = { _, request in
                guard request.path == target, !gate.isOpen else { return .before { try await gate.wait() } }
                return .after {
                    guard !gate.isOpen else { return }
                    try await one.insert(id, 2)
                    try await one.pushAll()
                    gate.open()
                }
            }
            let sync = Task { try await device.client.run([SyncSubscription(scene.suite.schema.name, interval: nil)]) }
            defer { sync.cancel() }
            let end = ContinuousClock.now + scene.suite.patience
            while try await device.table.row(id: id) == nil {
                guard ContinuousClock.now < end else {
                    throw BrokenPromise(
                        "a change before the first signal: expected: it arrives; found: not within \(scene.suite.patience)"
                    )
                }
                try await Task.sleep(for: .milliseconds(10))
            }
            sync.cancel()
            _ = await sync.result
        }
    ]
}

/// Holds requests until it is opened.
private final class Gate: Sendable {
    private let state = Mutex(false)
    var isOpen: Bool { state.withLock { $0 } }
    func open() { state.withLock { $0 = true } }
    func wait() async throws { while !isOpen { try await Task.sleep(for: .milliseconds(5)) } }
}
