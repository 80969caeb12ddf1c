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
    case indexKeepsDeletedRows, indexKeepsOldValues, indexMissesUpdates, indexNotFilled, indexLeavesOutNulls, indexForOr
    case indexForNot, indexForNotEqual, indexCutsFractions, indexUpperBoundExcluded, indexLowerBoundIncluded
    case indexForgetsTheSign, indexEndsAtNUL, indexPrefixEndsAtZ, indexForgetsOtherConditions, indexLostOnReopen
    case literalOnTheLeftNotTurned, duplicateInListFindsTwice, idConditionsHeedCase, rollbackKeepsIndexes
    case indexBehindInWrite, indexCountsNaN, indexSplitsZero

    // Conditions
    case wildcardsNotEscaped, containsIgnoresCase, emptyListMatchesAll, notEqualLeavesOutNull, notOfNullIsFalse
    case nullInListNeverFound, nullIsLessThanAll, nanEqualsItself, negativeZeroDiffers, integersComparedAsDoubles
    case instantsComparedByMillisecond, caseFoldedByUnicode, caseFoldedByLocale, lengthInUTF16, lengthInCharacters
    case substringFromOne, negativeStartCountsFromEnd, indexOfInBytes, replacesFirstOnly, trimsSpacesOnly
    case textNormalisedInComparison, datePartsInLocalTime, hoursInLocalTime, secondsRounded, beforeEpochTruncated
    case integersDivideToDouble, remainderNeverNegative, divisionByZeroIsInfinite, overflowWraps, halvesRoundToEven
    case emptyOrIsTrue, emptyAndIsFalse, queryNotValidated, otherTypesFindNothing, termsCutAtHundred
    case bytesComparedByLength, nullEqualsNothing, notInWithNullFindsNone, notInLeavesOutNull, nullsCompareAsEqual
    case nanIsGreatest, emptyTextNotContained, trimsUnicodeSpaces, divisionRoundsDown, halvesRoundUp
    case floorCutsTowardZero, textComparedInUTF16, bytesComparedSigned, columnsNotCompared, boolColumnIsNoCondition
    case literalOnTheLeftMisread, deepConditionsRefused, suffixFoundAtFirstOnly, indexOfMissingIsNull
    case nullConcatenatedAsEmpty, monthFromZero, integersAddedAsDoubles

    // Order, paging, count, selection
    case nullsLast, nullsFirstInBothOrders, tiesUnordered, tiesFollowDescending, secondTermIgnored, textOrderIgnoresCase
    case textOrderByNumber, idsOrderedByLength, intIDsOrderedAsText, idOrderHeedsCase, nanLast, unselectedOrderIgnored
    case skipBeforeOrder, limitBeforeOrder, skipOffByOne, limitOffByOne, limitZeroIsNone, skipPastEndWraps
    case negativeLimitAccepted, countAfterLimit, countUntilStop, countNotAsked, countHeedsLimit, scanDoesNotStop
    case versionNotSelected, unknownSelectionIgnored, selectionIgnored, textOrderInUTF16, integersOrderedAsDoubles
    case instantsOrderedByMillisecond, descendingIDIgnored, falseAfterTrue, doublesOrderedByBits, countAfterSkip

    // Values and ids
    case integersThroughDouble, instantsCutToMilliseconds, emptyTextIsNull, emptyBytesAreNull, jsonTidied
    case boolsAsIntegers, negativeZeroLost, textEndsAtNUL, textNormalised, nanStoredAsNull, spacesTrimmed, longTextCut
    case longBytesCut, lineEndsChanged, doublesThroughText, wholeDoublesAsIntegers, idCutAtSixtyFour, idEndsAtNUL
    case idNormalised, idFoldedByUnicode, exactIDsIgnoreCase, tableNameIsAPrefix

    // Tables
    case definitionNotAtomic, redefinitionLosesRows, droppedColumnErased, changedTypeAccepted, tablesUnsorted
    case systemTablesNotListed, newColumnIsZero, undefinedTableIsEmpty, idTypeChangeAccepted, namesNotChecked
    case nameFormsNotChecked, columnsMoveWithDefinition, columnNamesIgnoreCase, tableNamesComparedByBytes
    case undefinedTableInDeleteIgnored, redefinitionIgnored, redefinitionInTwoWrites, tablesSortedInUTF16
    case newerFormatRead, indexesNotListed, optionalChangeIgnored, retiredTypeForgotten, columnCaseChangeAccepted
    case redefinitionFillsNoIndex, scannedColumnsAsStored

    // Transactions and threads
    case rollbackForgetsSecondTable, rollbackKeepsAll, deletesNotRolledBack, dirtyReads, snapshotMoves, ownWritesUnseen
    case deletesAppliedLast, nestedWriteWaits, nestedWriteJoins, nestedReadRefused, bodyRunsTwice, writersAtOnce
    case tablesCommittedOneByOne, handleOutlivesBody, readAfterClose, tablesAfterClose, closeDoesNotWait
    case secondCloseFails, bodyErrorReplaced, scanSeesChanges, cancelledAfterCommit, readerBlocksWriter
    case busyInsteadOfWaiting, ownWritesUnseenByQueries, secondTableNotCommitted, scanErrorSwallowed
    case nestedReadSeesWrite, readersLimited

    // Files
    case lastCommitWrittenLater, writtenWhenClosed, deletesNotLogged, secondTableNotLogged, definitionsNotLogged
    case secondOpenerAdmitted, fileLeftOpen, neverSynced, writeErrorsIgnored, checksumNotCompared, cutRecordRead
    case fullIsCalledIO, readOnlyWrites, existingIsMade, pathDecoded, systemMarkLost, fileCutsInstants
    case fileLosesNegativeZero, fileReadsEmptyAsNull, fileEndsTextAtNUL, fileIntegersThroughDouble, indexesNotLogged
    case firstFailedSyncForgiven, creationLeavesPart, damageIsCalledIO, reopenedFileOverwritten, openErrorUntyped
    case foreignFileIsCalledCorrupt, deniedWritingIsCalledIO, longCommitNotSynced, reopenedNotSynced
    case failedDefinitionKeepsIndex

    // Promises kept for small amounts only
    case longOrdersUnstable, orderTermsCutAtEight, longListsHeedCase, longTextsSearchedInPart
    case rollbackForgetsEleventhTable, eleventhTableNotCommitted, changesCutAtThousand, manyIDsHeedCase
    case deletionCutAtThousand, columnsBeyondSixtyFourNotMerged, duplicatesInLongBatchKeepFirst
    case indexesBeyondEightNotKept, queriesKeptForever, repeatedAnswersKept, timeLimitKept, timeLimitPerQuery
    case timeLimitIgnored, longOrdersForgotten, orderedDeletionCut, longScanSeesChanges, longDefinitionInParts
    case busyAfterManyFailures, waitingWriterGivesUp, closeGivesUp, idleStoreCloses, commitsKept, tablesLimited
    case indexChangesLimited, descriptorLeaked, scanCopiesRows, replacedRowsKept

    // Capabilities
    case idLimitOverstated, infinityDeclaredOff, nanDeclaredOff, persistenceDeclaredOff, readOnlyNotDeclared
    case tableLimitNotKept, externalNumberWithoutSharing, ownCommitsAreExternal, externalCommitsUnseen

    // Several stores over the same files
    case longCommitsAreExternal, foreignDeletionsUnseen, countsKept, readOnlyFrozen, signalPathDiffers
    case externalNumberAfterClose, signalFileKept
}
