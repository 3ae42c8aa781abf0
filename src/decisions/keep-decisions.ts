import { AppError } from '../errors/app-error.js'
import { asBuffer } from '../lib/bytes.js'
import { closeJson } from '../lib/redaction/close-json.js'
import { redactWords } from '../lib/redaction/redact-text.js'
import { redactSecrets } from '../lib/redaction/redact.js'
import { REDACTED, REDACTION_MARK } from '../lib/redaction/redacted.js'
import { mayHoldSecrets } from '../lib/redaction/secret-patterns.js'
import { remembered } from '../lib/remembered.js'
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
import { makeInputKeeper, NOT_MASKED } from './mask-input.js'
import type { KeptInput } from './mask-input.js'

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

/** A decision before it is stored. */
export interface KeptDecision {
  readonly row: BatchRow
  readonly input: KeptInput
  readonly isResultCut: boolean
}

/** Removes secrets from a decision. Drops parts that may contain some and cannot be checked. */
export type RedactDecision = (kept: KeptDecision) => KeptDecision

/** Shorter texts occur in too many others. */
const MIN_QUOTED_LENGTH = 4
/** Above this number, parts that may quote secrets are dropped instead of searched. */
const MAX_QUOTED = 200

/** Most services use a few hundred paths. */
const MAX_CACHED_PATHS = 1000

/**
 * Makes a function that redacts the stored input, result, error, packages and calls. At most
 * `maxInputBytes` of the input are kept.
 */
export function makeRedactDecision(maxInputBytes: number): RedactDecision {
  const shownPath = remembered(redactWords, MAX_CACHED_PATHS)
  return ({ row, input, isResultCut }) => {
    const redacted = input.bytes === null ? undefined : redactStart(input.bytes, input.truncated, [])
    const known = quotable(redacted?.values ?? [])
    const isHidden = known.length > MAX_QUOTED
    const path = shownPath(row.path)
    const result = isHidden
      ? REDACTED
      : row.result && (redactStart(row.result, isResultCut, known)?.bytes ?? null)
    const error =
      isHidden && row.error !== null ? REDACTION_MARK : row.error && redactedError(row.error, known)
    const calls = row.ndBuiltinCache
    const ndBuiltinCache = calls === null || isHidden ? null : withoutQuotes(calls, known)
    const packages =
      isHidden || row.packages === null ? null : (redactStart(row.packages, false, known)?.bytes ?? null)
    const isAsItWas =
      path === row.path &&
      error === row.error &&
      result === row.result &&
      ndBuiltinCache === calls &&
      packages === row.packages
    return {
      isResultCut,
      input: input.bytes === null ? input : keptInput(input, redacted, maxInputBytes),
      row: isAsItWas ? row : { ...row, path, result, error, ndBuiltinCache, packages },
    }
  }
}

function keptInput(input: KeptInput, redacted: RedactedStart | undefined, maxInputBytes: number): KeptInput {
  if (redacted === undefined) return NOT_MASKED
  const { bytes } = redacted
  if (bytes === input.bytes && bytes.length <= maxInputBytes) return input
  return {
    ...input,
    bytes: bytes.subarray(0, maxInputBytes),
    truncated: input.truncated || bytes.length > maxInputBytes,
  }
}

interface RedactedStart {
  readonly bytes: Uint8Array
  readonly values: readonly string[]
}

/**
 * Redacts a JSON text or its beginning; undefined if it cannot be checked and may contain secrets.
 */
function redactStart(bytes: Uint8Array, isCut: boolean, known: readonly string[]): RedactedStart | undefined {
  const start = asBuffer(bytes)
  try {
    const redacted = isCut ? redactCut(start, known) : redactWhole(start, known)
    // Nothing was replaced if the bytes are the same.
    return redacted.bytes === start ? { bytes, values: redacted.values } : redacted
  } catch (raw) {
    if (!(raw instanceof AppError)) throw raw
    return mayHoldSecrets(start) ? undefined : { bytes, values: [] }
  }
}

function redactWhole(json: Buffer, known: readonly string[]): RedactedStart {
  const { text, values } = redactSecrets(json, { known })
  return { bytes: text, values }
}

function redactCut(start: Buffer, known: readonly string[]): RedactedStart {
  const { json, cutAt, closing, containers } = closeJson(start)
  const { text, count, values } = redactSecrets(json, { known, cut: { at: cutAt, containers } })
  return { bytes: count === 0 ? start : withoutClosing(text, closing), values }
}

/**
 * Removes the brackets that were added to close the beginning of a cut input. Redacting a cut
 * secret may have removed some of them already.
 */
function withoutClosing(text: Buffer, closing: Buffer): Buffer {
  let left = closing
  while (left.length > 0 && !text.subarray(text.length - left.length).equals(left)) left = left.subarray(1)
  return text.subarray(0, text.length - left.length)
}

/**
 * Removes secrets of the input that are quoted here. OPA has already omitted secret values. Keys
 * are arguments of built-ins here and not names of fields, so they are not used to find secrets.
 */
function withoutQuotes(json: Uint8Array, known: readonly string[]): Uint8Array | null {
  if (known.length === 0) return json
  const text = Buffer.from(json).toString()
  const forms = known.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
  const shown = forms.reduce((rest, form) => rest.replaceAll(form, REDACTION_MARK), text)
  return shown === text ? json : jsonBytes(shown)
}

function redactedError(error: string, known: readonly string[]): string {
  return redactWords(known.reduce((text, secret) => text.replaceAll(secret, REDACTION_MARK), error))
}

/** Longest first, since it may contain a shorter one. */
function quotable(values: readonly string[]): readonly string[] {
  return [
    ...new Set(values.filter((value) => value.length >= MIN_QUOTED_LENGTH && value !== REDACTION_MARK)),
  ].sort((a, b) => b.length - a.length)
}

/** Returns a text's bytes if it is valid JSON, else null. */
function jsonBytes(text: string): Uint8Array | null {
  try {
    JSON.parse(text)
    return Buffer.from(text)
  } catch {
    return null
  }
}
