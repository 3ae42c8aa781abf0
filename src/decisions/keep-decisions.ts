import type {
  AddDecision,
  BatchWriter,
  DecisionWriteStore,
  NewDecision,
} from '../store/ports/decision-store.js'
import { batchRow } from './decision-batch.js'
import type { BatchRow, DecisionBatch } from './decision-batch.js'
import type { DecisionReport } from './decision-report.js'
import { DecisionReporter } from './decision-reporter.js'
import type { ReportOptions } from './decision-reporter.js'
import { findExecutionId } from './entry/find-execution-id.js'
import type { HideSecrets } from './hide-secrets.js'
import { jsonBytes } from './redact-decision.js'
import { makeInputKeeper } from './mask-input.js'
import type { KeptInput } from './mask-input.js'
import { makeRedactDecision } from './redact-decision.js'

/** What to store of decisions. */
export interface KeepOptions {
  /** JSON pointers (RFC 6901). The token `*` matches every member or element. */
  readonly masks: readonly string[]
  readonly maxInputBytes: number
  /** Whether secrets are redacted in all stored data. Default: true. */
  readonly redact?: boolean
  /** Absent if no decision is reported. */
  readonly reports?: ReportOptions | undefined
}

/** Result of a batch: the number of decisions without an input, because it could not be masked. */
export interface WriteReceipt {
  readonly maskFailed: number
  /** Number of earlier decisions that lost their detail because the log is full. */
  readonly detailRemoved?: number
  /** Reported decisions of the batch, if any. */
  readonly report?: DecisionReport | undefined
  /** Memory of the batch, to be reused. */
  readonly spentMemory?: Uint8Array<ArrayBuffer>
}

/** Writes batches of decisions to the log. */
export type DecisionBatchWriter = BatchWriter<DecisionBatch, WriteReceipt>

/** A store that receives batches and masks, redacts and cuts decisions. */
export interface DecisionKeeper extends Omit<DecisionWriteStore, 'insert'> {
  insert(batch: DecisionBatch): WriteReceipt
}

const NO_INPUT: KeptInput = { bytes: null, truncated: false, maskFailed: false, hide: undefined }

/** Masks, redacts and reports decisions before they are stored. Raises `invalid` for a bad mask. */
export function keepDecisions(store: DecisionWriteStore, options: KeepOptions): DecisionKeeper {
  const { masks, maxInputBytes, redact = true, reports } = options
  const keepInput = makeInputKeeper(masks, maxInputBytes)
  const redactDecision = redact ? makeRedactDecision(maxInputBytes) : undefined
  const reporter = reports && new DecisionReporter(reports)

  const insert = (batch: DecisionBatch): WriteReceipt => {
    // Drop the reports of a batch that was undone.
    reporter?.take()
    let maskFailed = 0
    const keep = (whole: BatchRow, add: AddDecision): void => {
      const isCut = isResultCut(whole)
      const masked = whole.input === null ? NO_INPUT : keepInput(whole.input, whole.inputBytes ?? 0)
      const executionId = executionIdOf(whole)
      const named = executionId === whole.executionId ? whole : { ...whole, executionId }
      const shown = {
        row: masked.hide === undefined ? named : withoutSecrets(named, masked.hide),
        input: masked,
        isResultCut: isCut,
      }
      const { row, input } = redactDecision?.(shown) ?? shown
      if (input.maskFailed) maskFailed += 1
      reporter?.offer(row, isCut)
      add(newDecision(row, input, isCut))
    }
    store.insert((add) => {
      for (let index = 0; index < batch.rowCount; index += 1) keep(batchRow(batch, index), add)
    })
    return { maskFailed, report: reporter?.take() }
  }
  return {
    insert,
    deleteBefore: (timeMs, limit) => store.deleteBefore(timeMs, limit),
    deleteOldest: (limit) => store.deleteOldest(limit),
    takeDetailRemoved: () => store.takeDetailRemoved(),
    releaseSpace: (maxBytes) => store.releaseSpace(maxBytes),
    size: () => store.size(),
    close: () => store.close(),
  }
}

/** Copies member by member, which is several times as fast as a spread. */
function newDecision(row: BatchRow, input: KeptInput, resultTruncated: boolean): NewDecision {
  return {
    decisionId: row.decisionId,
    timeMs: row.timeMs,
    kind: row.kind,
    path: row.path,
    revision: row.revision,
    outcome: row.outcome,
    application: row.application,
    executionId: row.executionId,
    caller: row.caller,
    durationNs: row.durationNs,
    requestId: row.requestId,
    traceId: row.traceId,
    error: row.error,
    input: input.bytes,
    inputBytes: row.inputBytes,
    inputTruncated: input.truncated,
    result: row.result,
    resultTruncated,
    ndBuiltinCache: row.ndBuiltinCache,
    packages: row.packages,
  }
}

/** Hides secrets in the texts of a decision that may quote its input. */
function withoutSecrets(row: BatchRow, hide: HideSecrets): BatchRow {
  const { application, executionId, error, result, ndBuiltinCache, packages } = row
  const said = packages === null ? null : hide(Buffer.from(packages).toString(), false)
  const calls = ndBuiltinCache === null ? null : hide(Buffer.from(ndBuiltinCache).toString(), false)
  // Streaming omits half a character at the cut.
  const text = result === null ? null : new TextDecoder().decode(result, { stream: true })
  const shown = text === null ? null : hide(text, isResultCut(row))
  return {
    ...row,
    application: application === null ? null : hide(application, false),
    // A part of an id is useless.
    executionId: executionId !== null && hide(executionId, false) === executionId ? executionId : null,
    error: error === null ? null : hide(error, false),
    result: shown === null ? null : Buffer.from(shown),
    ndBuiltinCache: calls === null ? null : jsonBytes(calls),
    packages: said === null ? null : jsonBytes(said),
  }
}

/** Execution of a decision, from the batch if the input was cut, else from the input. */
function executionIdOf({ executionId, input, inputBytes }: BatchRow): string | null {
  const isWhole = input !== null && input.length === inputBytes
  return isWhole ? (findExecutionId(input) ?? null) : executionId
}

function isResultCut({ result, resultBytes }: BatchRow): boolean {
  return (resultBytes ?? 0) > (result?.length ?? 0)
}
