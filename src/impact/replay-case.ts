import type { DecisionKind, StoredDecision } from '../store/ports/decision-store.js'

/** Where an input comes from: the decision log, the registry, or the request. */
export type CaseOrigin = 'decision' | 'pipeline' | 'input'

/** One input to evaluate with both revisions. */
export interface ReplayCase {
  readonly origin: CaseOrigin
  /** Id of the decision or pipeline, or name of the file. */
  readonly id: string
  /** Name of the pipeline. */
  readonly name?: string | undefined
  readonly kind: Exclude<DecisionKind, 'query'>
  /** Requested path; ignored for static policies. */
  readonly path: string
  readonly application?: string | undefined
  readonly executionId?: string | undefined
  /** Time of the decision, in epoch milliseconds. */
  readonly timeMs: number
  /** JSON; undefined if there was no input. */
  readonly input: Uint8Array | undefined
  /** Results of non-deterministic built-ins, as JSON. */
  readonly recordedCalls?: Uint8Array | undefined
}

/**
 * Why an input cannot be evaluated again. `unrecorded_call` means that a policy calls another host,
 * or a policy reads a random value, that the decision did not record.
 */
export const NOT_REPLAYABLE = ['redacted', 'cut', 'no_input', 'ad_hoc_query', 'unrecorded_call'] as const
export type NotReplayableReason = (typeof NOT_REPLAYABLE)[number]

/** An input that is named in the result instead of evaluated. */
export interface NotReplayable {
  readonly origin: CaseOrigin
  readonly id: string
  readonly reason: NotReplayableReason
}

/** Texts that stand for removed values in stored inputs. */
const REMOVED = ['[redacted]', '[masked]'].map((mark) => Buffer.from(mark))

/** Whether values were removed from stored JSON. */
export function isRedacted(json: Uint8Array): boolean {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.length)
  return REMOVED.some((mark) => bytes.includes(mark))
}

/** Returns the case of a stored decision, or why there is none. */
export function caseOfDecision(decision: StoredDecision): ReplayCase | NotReplayable {
  const { decisionId: id, kind, path, application, executionId, timeMs, input, ndBuiltinCache } = decision
  const cannot = (reason: NotReplayableReason): NotReplayable => ({ origin: 'decision', id, reason })
  if (kind === 'query') return cannot('ad_hoc_query')
  if (decision.inputTruncated) return cannot('cut')
  // Absent bytes with a known size were dropped while the buffer was full.
  if (input === null && decision.inputBytes !== null) return cannot('no_input')
  if (input !== null && isRedacted(input)) return cannot('redacted')
  if (ndBuiltinCache !== null && isRedacted(ndBuiltinCache)) return cannot('redacted')
  return {
    ...{ origin: 'decision', id, kind, path, timeMs },
    application: application ?? undefined,
    executionId: executionId ?? undefined,
    input: input ?? undefined,
    recordedCalls: ndBuiltinCache ?? undefined,
  }
}

/** A pipeline of the registry with its definition. */
export interface StoredPipeline {
  readonly id: string
  readonly name: string
  readonly application: string
  /** JSON text. */
  readonly definition: string
}

/** Returns the case of saving a pipeline at a time, or why there is none. */
export function caseOfPipeline(
  { id, name, application, definition }: StoredPipeline,
  timeMs: number,
): ReplayCase | NotReplayable {
  // As the orchestrator's save request.
  const input = Buffer.from(`{"new":${definition}}`)
  if (isRedacted(input)) return { origin: 'pipeline', id, reason: 'redacted' }
  return { origin: 'pipeline', id, name, kind: 'static', path: STATIC_PATH, application, timeMs, input }
}

/** Path of decisions about saved pipelines. */
export const STATIC_PATH = 'staticPolicy/eval'
