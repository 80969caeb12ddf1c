internal import HTTPTypes
internal import TidelineStore
internal import TidelineWire

extension ServerCheck {
    /// Rows that a server inserts, and their ids.
    static let inserts: [ServerCheck] = [
        ServerCheck(
            "SRV-301", "An insert is answered with 201 and the stored row",
            why: "The client stores the row of the response, with its version and its timestamps."
        ) { check in
            let answer = try await check.tryInsert(["text": "a", "number": 3], id: check.newID())
            try check.expect(answer, has: 200, 201, what: "an insert")
            let row = try answer.row()
            try check.expect(row.text, is: "a", "the text in the response")
            try check.expect(row["number"], is: .int(3), "the number in the response")
            try await check.expect(check.found(row.id), shows: row, "the row that is then found")
        },
        ServerCheck(
            "SRV-302", "A row keeps the id with which it is inserted",
            why:
                "An app uses the id of a new row before it is pushed, and a lost response is recognized by it. Inserts "
                + "into a table whose ids the server makes end as an error."
        ) { check in
            let id = check.newID()
            let answer = try await check.tryInsert(["text": "a"], id: id)
            try check.expectSuccess(answer, "an insert")
            try check.expect(answer.row().id, is: id, "the id in the response to an insert")
        },
        ServerCheck(
            "SRV-303", "A row that is inserted without an id gets one",
            why: "Remote tables accept rows without an id.",
            tolerated: "A sync table makes the id itself"
        ) { check in
            let answers = [
                try await check.tryInsert(["text": "a"], id: nil), try await check.tryInsert(["text": "b"], id: nil),
            ]
            for answer in answers { try check.expectSuccess(answer, "an insert without an id") }
            let ids = try answers.map { try $0.row().id }
            try check.expect(!ids.contains("") && ids[0] != ids[1], "two rows without an id get the ids \(ids)")
        },
        ServerCheck(
            "SRV-304", "Ids that differ only in the case of ASCII letters are one id",
            why: "A local table compares ids in this way by default, as the original clients do.",
            tolerated:
                "A table with idMatching .exact keeps both rows; a pull of others refuses such a pair with an error",
            needs: [.clientIDs]
        ) { check in
            let id = check.newID()
            try await check.expectSuccess(check.tryInsert(["text": "a"], id: id + "-aB"), "an insert")
            // A server that does not find it would store a second row, with which clients cannot pull the table.
            let found = try await check.lookup(id + "-Ab")
            try check.expect(found, has: 200, what: "a lookup of the id in another case")
            let second = try await check.tryInsert(["text": "b"], id: id + "-Ab")
            try check.expect(second, has: 409, what: "an insert of the same id in another case")
        },
        ServerCheck(
            "SRV-305", "An insert of an id that exists is answered with 409",
            why: "After a lost response, a client inserts the row again. It recognizes its row by the conflict.",
            needs: [.clientIDs]
        ) { check in
            let row = try await check.insert()
            let second = try await check.tryInsert(["text": "b"], id: row.id)
            try check.expect(second, has: 409, what: "an insert of an id that exists")
        },
        ServerCheck(
            "SRV-306", "The 409 to an insert contains the server's row",
            why: "The client compares it with what it has sent.",
            tolerated: "In ZUMO 2, and without a readable row, the client looks the row up", needs: [.clientIDs]
        ) { check in
            let row = try await check.insert(["text": "server's"])
            let second = try await check.tryInsert(["text": "client's"], id: row.id)
            try check.expect(second, has: 409, what: "an insert of an id that exists")
            try check.expect(second.row(), shows: row, "the row in the 409")
        },
        ServerCheck(
            "SRV-307", "An insert of an id that exists changes nothing",
            why: "Otherwise the second of two clients overwrites the row of the first without a conflict.",
            needs: [.clientIDs]
        ) { check in
            let row = try await check.insert(["text": "first"])
            _ = try await check.tryInsert(["text": "second", "number": 2], id: row.id)
            try await check.expect(check.found(row.id), shows: row, "the row after the second insert")
        },
        ServerCheck(
            "SRV-308", "An insert of the id of a deleted row is answered with 409",
            why: "The deletion by another user is a conflict that the app decides.",
            tolerated: "The client takes over the new row", needs: [.clientIDs, .tombstones]
        ) { check in
            let row = try await check.removedRow()
            let second = try await check.tryInsert(["text": "b"], id: row.id)
            try check.expect(second, has: 409, what: "an insert of the id of a deleted row")
        },
        ServerCheck(
            "SRV-309", "A new row's address is in the header Location",
            why: "HTTP and the toolkit's server say so.",
            tolerated: "The client makes the address from the id", needs: [.dialect(.datasync3)]
        ) { check in
            let id = check.newID()
            let answer = try await check.tryInsert(["text": "a"], id: id)
            let location = answer.headers[.location] ?? ""
            let end = "/\(PercentEncoding.encode(try answer.row().id))"
            try check.expect(location.hasSuffix(end), "Location is \(location.debugDescription)")
        },
        ServerCheck(
            "SRV-310", "Every character that an id may have travels in paths, bodies, and filters",
            why: "Ids are made by apps, and their characters have a meaning in URLs and in filters.",
            needs: [.clientIDs]
        ) { check in
            let endings =
                check.isDatasync ? ["a_.|:-Z9"] : ["it's", "a b", "100%25", "&=#;,", "ü🌊", "(a)[b]{c}", "~@!$*^<>|"]
            for ending in endings {
                let id = check.newID() + ending
                let inserted = try await check.tryInsert(["text": "a"], id: id)
                try check.expectSuccess(inserted, "an insert with the id \(id.debugDescription)")
                try check.expect(inserted.row().id, is: id, "the id in the response")
                try await check.expect(check.found(id).id, is: id, "the id of the row that is found")
                let listed = try await check.list(.compare("id", .equal, .string(id)))
                try check.expect(listed.ids, is: [id], "the ids that a filter finds")
                try await check.expectSuccess(check.delete(id), "the delete of the id \(id.debugDescription)")
            }
        },
        ServerCheck(
            "SRV-311", "An id may have the greatest length of the dialect",
            why: "255 characters in ZUMO 2, 127 in Datasync 3.",
            tolerated: "The client's own ids are UUIDs of 36 characters", needs: [.clientIDs]
        ) { check in
            let id = check.newID()
            let long = id + String(repeating: "x", count: (check.isDatasync ? 127 : 255) - id.count)
            try await check.expectSuccess(check.tryInsert(["text": "a"], id: long), "an insert with a long id")
            try await check.expect(check.found(long).id, is: long, "the id of the row that is found")
        },
        ServerCheck(
            "SRV-312", "The server sets createdAt, updatedAt and deleted, whatever the body of an insert says",
            why: "A timestamp forged in the past hides the row from clients; one in the future stops their pulls."
        ) { check in
            try await check.insert()
            let id = check.newID()
            let stamp = "1999-12-31T23:59:59.000Z"
            check.willRemove(id)
            let body =
                #"{"id":"\#(id)","mark":"\#(check.mark)","text":"a","createdAt":"\#(stamp)","updatedAt":"\#(stamp)"}"#
            let answer = try await check.send(.post, body: body)
            guard answer.isSuccess else {
                try check.expect((400..<500).contains(answer.status), answer.summary)
                return
            }
            let row = try answer.row()
            check.willRemove(row.id)
            let forged = Timestamp(stamp)
            try check.expect(row.updatedAt != forged, "the row has the updatedAt of the body, \(stamp)")
            try await check.expect(check.found(row.id).updatedAt != forged, "the stored updatedAt is \(stamp)")
        },
        ServerCheck(
            "SRV-313", "The server makes the version, whatever the body of an insert says",
            why: "If clients choose versions, two different rows can have the same one.",
            tolerated: "The client does not send the version of a new row"
        ) { check in
            try await check.insert()
            let id = check.newID()
            check.willRemove(id)
            let answer = try await check.send(
                .post, body: #"{"id":"\#(id)","mark":"\#(check.mark)","text":"a","version":"mine"}"#)
            guard answer.isSuccess else { return }
            let row = try answer.row()
            check.willRemove(row.id)
            try check.expect(row.version != "mine", "the row has the version of the body")
        },
        ServerCheck(
            "SRV-314", "A value for a column that the table lacks is stored or refused with 4xx",
            why: "A value that disappears silently is lost: the app sees it until the next pull.",
            tolerated: "The client stores the server's row; after 5xx it tries again, and then reports the operation"
        ) { check in
            try await check.insert()
            let answer = try await check.tryInsert(["text": "a", "conformanceExtra": "kept"], id: check.newID())
            try check.expect(answer.status < 500, "a value for an unknown column: \(answer.summary)")
            guard answer.isSuccess else { return }
            let stored = try await check.found(try answer.row().id)
            try check.expect(stored["conformanceExtra"], is: "kept", "the value of the unknown column")
        },
        ServerCheck(
            "SRV-315", "A value of another type than the column's is refused with 4xx",
            why: "Other clients cannot read such a row.",
            tolerated: "A local table checks the types of values before it queues them"
        ) { check in
            try await check.insert()
            let answer = try await check.tryInsert(["text": "a", "number": "many"], id: check.newID())
            try check.expect((400..<500).contains(answer.status), "a text in a column of integers: \(answer.summary)")
        },
        ServerCheck(
            "SRV-316", "A fault of a row is never answered with 5xx",
            why: "5xx means that the request may succeed later.",
            tolerated: "The client tries again a few times, then reports the operation and pushes the others"
        ) { check in
            let row = try await check.insert()
            let change = try await check.update(row, ["conformanceNone": .null, "text": "b"])
            try check.expect(change.status < 500, "null for an unknown column: \(change.summary)")
            let json = try await check.tryInsert(["text": "a", "conformanceJSON": .json("[1]")], id: check.newID())
            try check.expect(json.status < 500, "an array as a value: \(json.summary)")
        },
        ServerCheck(
            "SRV-317", "The status of an insert is 201, not another success",
            why: "HTTP says so, and clients of other makers may expect it.",
            tolerated: "The client takes each success with a row for an insert"
        ) { check in
            let answer = try await check.tryInsert(["text": "a"], id: check.newID())
            try check.expect(answer, has: 201, what: "an insert")
        },
        ServerCheck(
            "SRV-318", "A row keeps the case of the letters of its id",
            why: "The app uses the id that it has made, also as a reference in other tables.",
            tolerated: "By default, a local table takes ids that differ only in the case of ASCII letters for one id",
            needs: [.clientIDs]
        ) { check in
            let id = check.newID() + "-aBcD"
            let answer = try await check.tryInsert(["text": "a"], id: id)
            try check.expectSuccess(answer, "an insert")
            try check.expect(answer.row().id, is: id, "the id in the response to an insert")
            try await check.expect(check.list().ids, is: [id], "the ids in the list")
        },
    ]
}
