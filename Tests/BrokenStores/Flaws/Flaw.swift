/// A mistake that the author of a store may make. A ``PlainStore`` makes one, in the place where an author would.
package enum Flaw: String, CaseIterable, Sendable {
    // Upsert
    case lastRowOfBatchDropped, batchCutAtThousand, mergeReplaces, explicitNullIgnored, deletedRowComesBack
    case firstOfTwoCounts, columnsOfFirstRow, batchColumnsByPosition, requiredColumnNotChecked
    case requiredColumnAskedOfMerges, unknownColumnDropped, typeNotChecked, emptyIDAccepted, tooLongIDAccepted
    case errorWithoutNames, errorWithAnotherCode, spellingReplaced, emptyBatchFails, systemColumnsStamped
    case versionNotStored, failedTransactionCommitted, lockKeptAfterFailure, lockHeldForever, rowWithoutColumnsNotStored
    case negativeIDsRefused, requiredNullInMergeAccepted

    // Lookup and deletion
    case missThrows, lookupHeedsCase, lookupTrimsID, deleteHeedsCase, deleteCountsIDs, idsCutAtThousand
    case onlyFirstIDDeleted, deleteIgnoresSkip, deleteIgnoresLimit, deleteIgnoresOrder, deletingAllCountsNone
    case deleteIgnoresCondition, idTypeNotChecked, deletedSpellingKept

    // Indexes
    case indexKeepsDeletedRows, indexKeepsOldValues, indexMissesUpdates, indexNotFilled, indexLeavesOutNulls
    case indexForOr, indexForNot, indexForNotEqual, indexCutsFractions, indexUpperBoundExcluded
    case indexLowerBoundIncluded, indexForgetsTheSign, indexEndsAtNUL, indexPrefixEndsAtZ, indexForgetsOtherConditions
    case indexLostOnReopen, literalOnTheLeftNotTurned, duplicateInListFindsTwice, idConditionsHeedCase
    case rollbackKeepsIndexes, indexBehindInWrite, indexCountsNaN, indexSplitsZero

    // Conditions
    case wildcardsNotEscaped, containsIgnoresCase, emptyListMatchesAll, notEqualLeavesOutNull, notOfNullIsFalse
    case nullInListNeverFound, nullIsLessThanAll, nanEqualsItself, negativeZeroDiffers, integersComparedAsDoubles
    case instantsComparedByMillisecond, caseFoldedByUnicode, caseFoldedByLocale, lengthInUTF16, lengthInCharacters,
        substringFromOne
    case negativeStartCountsFromEnd, indexOfInBytes, replacesFirstOnly, trimsSpacesOnly, textNormalisedInComparison
    case datePartsInLocalTime, hoursInLocalTime, secondsRounded, beforeEpochTruncated, integersDivideToDouble,
        remainderNeverNegative
    case divisionByZeroIsInfinite, overflowWraps, halvesRoundToEven, emptyOrIsTrue, emptyAndIsFalse, queryNotValidated
    case otherTypesFindNothing, termsCutAtHundred, bytesComparedByLength, nullEqualsNothing, notInWithNullFindsNone
    case notInLeavesOutNull, nullsCompareAsEqual, nanIsGreatest, emptyTextNotContained, trimsUnicodeSpaces
    case divisionRoundsDown, halvesRoundUp, floorCutsTowardZero, textComparedInUTF16, bytesComparedSigned
    case columnsNotCompared, boolColumnIsNoCondition, literalOnTheLeftMisread, deepConditionsRefused
    case suffixFoundAtFirstOnly, indexOfMissingIsNull, nullConcatenatedAsEmpty, monthFromZero, integersAddedAsDoubles

    // Order, paging, count, selection
    case nullsLast, nullsFirstInBothOrders, tiesUnordered, tiesFollowDescending, secondTermIgnored
    case textOrderIgnoresCase, textOrderByNumber, idsOrderedByLength, intIDsOrderedAsText, idOrderHeedsCase, nanLast
    case unselectedOrderIgnored, skipBeforeOrder, limitBeforeOrder, skipOffByOne, limitOffByOne, limitZeroIsNone
    case skipPastEndWraps, negativeLimitAccepted, countAfterLimit, countUntilStop, countNotAsked, countHeedsLimit
    case scanDoesNotStop, versionNotSelected, unknownSelectionIgnored, selectionIgnored, textOrderInUTF16
    case integersOrderedAsDoubles, instantsOrderedByMillisecond, descendingIDIgnored, falseAfterTrue
    case doublesOrderedByBits, countAfterSkip

    // Values and ids
    case integersThroughDouble, instantsCutToMilliseconds, emptyTextIsNull, emptyBytesAreNull, jsonTidied
    case boolsAsIntegers, negativeZeroLost, textEndsAtNUL, textNormalised, nanStoredAsNull, spacesTrimmed, longTextCut
    case longBytesCut, lineEndsChanged, doublesThroughText, wholeDoublesAsIntegers, idCutAtSixtyFour, idEndsAtNUL
    case idNormalised, idFoldedByUnicode, exactIDsIgnoreCase, tableNameIsAPrefix

    // Tables
    case definitionNotAtomic, redefinitionLosesRows, droppedColumnErased, changedTypeAccepted, tablesUnsorted
    case systemTablesNotListed, newColumnIsZero, undefinedTableIsEmpty, idTypeChangeAccepted, namesNotChecked
    case nameFormsNotChecked
    case columnsMoveWithDefinition, columnNamesIgnoreCase, tableNamesComparedByBytes, undefinedTableInDeleteIgnored
    case redefinitionIgnored, redefinitionInTwoWrites, tablesSortedInUTF16, newerFormatRead, indexesNotListed
    case optionalChangeIgnored, retiredTypeForgotten, columnCaseChangeAccepted, redefinitionFillsNoIndex
    case scannedColumnsAsStored

    // Transactions and threads
    case rollbackForgetsSecondTable, rollbackKeepsAll, deletesNotRolledBack, dirtyReads, snapshotMoves
    case ownWritesUnseen, deletesAppliedLast, nestedWriteWaits, nestedWriteJoins, nestedReadRefused, bodyRunsTwice
    case writersAtOnce, tablesCommittedOneByOne, handleOutlivesBody, readAfterClose, tablesAfterClose
    case closeDoesNotWait, secondCloseFails, bodyErrorReplaced, scanSeesChanges, cancelledAfterCommit
    case readerBlocksWriter, busyInsteadOfWaiting, ownWritesUnseenByQueries, secondTableNotCommitted
    case scanErrorSwallowed, nestedReadSeesWrite, readersLimited

    // Files
    case lastCommitWrittenLater, writtenWhenClosed, deletesNotLogged, secondTableNotLogged, definitionsNotLogged
    case secondOpenerAdmitted, fileLeftOpen, neverSynced, writeErrorsIgnored, checksumNotCompared, cutRecordRead
    case fullIsCalledIO, readOnlyWrites, existingIsMade, pathDecoded, systemMarkLost, fileCutsInstants
    case fileLosesNegativeZero, fileReadsEmptyAsNull, fileEndsTextAtNUL, fileIntegersThroughDouble, indexesNotLogged
    case firstFailedSyncForgiven, creationLeavesPart, damageIsCalledIO, reopenedFileOverwritten, openErrorUntyped
    case foreignFileIsCalledCorrupt, deniedWritingIsCalledIO, longCommitNotSynced, reopenedNotSynced

    // Promises kept for small amounts only
    case longOrdersUnstable, orderTermsCutAtEight, longListsHeedCase, longTextsSearchedInPart
    case rollbackForgetsEleventhTable, eleventhTableNotCommitted, changesCutAtThousand, manyIDsHeedCase
    case deletionCutAtThousand, columnsBeyondSixtyFourNotMerged, duplicatesInLongBatchKeepFirst
    case indexesBeyondEightNotKept, queriesKeptForever, repeatedAnswersKept, timeLimitKept, timeLimitPerQuery
    case timeLimitIgnored
    case longOrdersForgotten, orderedDeletionCut, longScanSeesChanges, longDefinitionInParts, busyAfterManyFailures
    case waitingWriterGivesUp, closeGivesUp, idleStoreCloses, commitsKept, tablesLimited, indexChangesLimited
    case descriptorLeaked, scanCopiesRows, replacedRowsKept

    // Capabilities
    case idLimitOverstated, infinityDeclaredOff, nanDeclaredOff, persistenceDeclaredOff, readOnlyNotDeclared
    case tableLimitNotKept, externalNumberWithoutSharing, ownCommitsAreExternal, externalCommitsUnseen

    // Several stores over the same files
    case longCommitsAreExternal, foreignDeletionsUnseen, countsKept, readOnlyFrozen, signalPathDiffers
    case externalNumberAfterClose, signalFileKept
}
