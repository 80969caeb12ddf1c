/// A mistake that an author of a store may make; a ``PlainStore`` makes one, at the place where it would be made.
enum Flaw: String, CaseIterable, Sendable {
    // Upsert
    case lastRowOfBatchDropped, batchCutAtThousand, mergeReplaces, explicitNullIgnored, deletedRowComesBack
    case firstOfTwoCounts, columnsOfFirstRow, batchColumnsByPosition, requiredColumnNotChecked
    case requiredColumnAskedOfMerges, unknownColumnDropped, typeNotChecked, emptyIDAccepted, tooLongIDAccepted
    case errorWithoutNames, errorWithAnotherCode, spellingReplaced, emptyBatchFails, systemColumnsStamped
    case versionNotStored, failedTransactionCommitted, lockKeptAfterFailure, rowWithoutColumnsNotStored,
        negativeIDsRefused, requiredNullInMergeAccepted

    // Look-up and deletion
    case missThrows, lookupHeedsCase, lookupTrimsID, deleteHeedsCase, deleteCountsIDs, idsCutAtThousand
    case onlyFirstIDDeleted, deleteIgnoresSkip, deleteIgnoresLimit, deleteIgnoresOrder, deletingAllCountsNone
    case deleteIgnoresCondition, idTypeNotChecked, deletedSpellingKept

    // Indexes
    case indexKeepsDeletedRows, indexKeepsOldValues, indexMissesUpdates, indexNotFilled, indexLeavesOutNulls
    case indexForOr, indexForNot, indexForNotEqual, indexCutsFractions, indexUpperBoundExcluded
    case indexLowerBoundIncluded, indexForgetsTheSign, indexEndsAtNUL, indexPrefixEndsAtZ
    case indexForgetsOtherConditions, indexLostOnReopen, literalOnTheLeftNotTurned, duplicateInListFindsTwice
    case idConditionsHeedCase, rollbackKeepsIndexes, indexBehindInWrite, indexCountsNaN, indexSplitsZero

    // Conditions
    case wildcardsNotEscaped, containsIgnoresCase, emptyListMatchesAll, notEqualLeavesOutNull, notOfNullIsFalse
    case nullInListNeverFound, nullIsLessThanAll, nanEqualsItself, negativeZeroDiffers, integersComparedAsDoubles
    case instantsComparedByMillisecond, caseFoldedByUnicode, lengthInUTF16, lengthInCharacters, substringFromOne
    case negativeStartCountsFromEnd, indexOfInBytes, replacesFirstOnly, trimsSpacesOnly, textNormalisedInComparison
    case hoursInLocalTime, secondsRounded, beforeEpochTruncated, integersDivideToDouble, remainderNeverNegative
    case divisionByZeroIsInfinite, overflowWraps, halvesRoundToEven, emptyOrIsTrue, emptyAndIsFalse
    case queryNotValidated, boolsEqualNumbers, termsCutAtHundred, bytesComparedByLength, nullEqualsNothing,
        notInWithNullFindsNone, notInLeavesOutNull, nullsCompareAsEqual, nanIsGreatest, emptyTextNotContained,
        trimsUnicodeSpaces, divisionRoundsDown, halvesRoundUp, floorCutsTowardZero, textComparedInUTF16,
        bytesComparedSigned, columnsNotCompared, boolColumnIsNoCondition, literalOnTheLeftMisread,
        deepConditionsRefused, suffixFoundAtFirstOnly, indexOfMissingIsNull, nullConcatenatedAsEmpty, monthFromZero,
        integersAddedAsDoubles

    // Order, paging, count, selection
    case nullsLast, nullsFirstInBothOrders, tiesUnordered, tiesFollowDescending, secondTermIgnored, textOrderIgnoresCase
    case textOrderByNumber, idsOrderedByLength, intIDsOrderedAsText, idOrderHeedsCase, nanLast, unselectedOrderIgnored
    case skipBeforeOrder, limitBeforeOrder, skipOffByOne, limitOffByOne, limitZeroIsNone, skipPastEndWraps
    case negativeLimitAccepted, countAfterLimit, countUntilStop, countNotAsked, countHeedsLimit, scanDoesNotStop
    case versionNotSelected, unknownSelectionIgnored, selectionIgnored, textOrderInUTF16, integersOrderedAsDoubles,
        instantsOrderedByMillisecond, descendingIDIgnored, falseAfterTrue, doublesOrderedByBits, countAfterSkip

    // Values and ids
    case integersThroughDouble, instantsCutToMilliseconds, emptyTextIsNull, emptyBytesAreNull, jsonTidied,
        boolsAsIntegers
    case negativeZeroLost, textEndsAtNUL, textNormalised, nanStoredAsNull, spacesTrimmed, longTextCut, longBytesCut
    case lineEndsChanged, doublesThroughText, wholeDoublesAsIntegers, idCutAtSixtyFour, idEndsAtNUL, idNormalised
    case idFoldedByUnicode, exactIDsIgnoreCase, tableNameIsAPrefix

    // Tables
    case definitionNotAtomic, redefinitionLosesRows, droppedColumnErased, changedTypeAccepted, tablesUnsorted
    case systemTablesNotListed, newColumnIsZero, undefinedTableIsEmpty, idTypeChangeAccepted, namesNotChecked
    case columnsMoveWithDefinition, columnNamesIgnoreCase, tableNamesNormalised, undefinedTableInDeleteIgnored,
        indexesNotListed, optionalChangeIgnored, retiredTypeForgotten, columnCaseChangeAccepted

    // Transactions and threads
    case rollbackForgetsSecondTable, rollbackKeepsAll, deletesNotRolledBack, dirtyReads, snapshotMoves
    case ownWritesUnseen, deletesAppliedLast, nestedWriteWaits, nestedWriteJoins, nestedReadRefused, bodyRunsTwice
    case writersAtOnce, tablesCommittedOneByOne, handleOutlivesBody, readAfterClose, tablesAfterClose
    case closeDoesNotWait, secondCloseFails, bodyErrorReplaced, scanSeesChanges, cancelledTaskWrites
    case readerBlocksWriter, busyInsteadOfWaiting, ownWritesUnseenByQueries, secondTableNotCommitted, scanErrorSwallowed

    // Files
    case lastCommitWrittenLater, writtenWhenClosed, deletesNotLogged, secondTableNotLogged, definitionsNotLogged
    case secondOpenerAdmitted, fileLeftOpen, neverSynced, writeErrorsIgnored, checksumNotCompared, cutFileAccepted
    case fullIsCalledIO, readOnlyWrites, existingIsMade, pathDecoded
    case systemMarkLost, fileCutsInstants, fileLosesNegativeZero, fileReadsEmptyAsNull, fileEndsTextAtNUL,
        fileIntegersThroughDouble, indexesNotLogged, reopenedFileOverwritten, openErrorUntyped

    // Capabilities
    case idLimitOverstated, infinityDeclaredOff, nanDeclaredOff, persistenceDeclaredOff, readOnlyNotDeclared
}
