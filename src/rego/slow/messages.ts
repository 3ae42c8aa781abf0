import type { ErrorDetail, ErrorKind } from '../../errors/app-error.js'
import type { PackedCall } from '../builtins/shared/recorded-calls.js'
import type { CostMeasurements } from '../metering/evaluation-cost.js'
import type { Strictness } from './strict-builtin-errors.js'
import type { EvaluationLimits } from '../wasm/evaluation-limits.js'
import type { FailedCall } from '../wasm/module/evaluation-abort.js'
import type { PackedSnapshot } from './packed-snapshot.js'
import type { Trace } from '../tracing/trace.js'
import type { Answer, MissingAnswer, Question } from './question.js'

/** A request to a slow thread: a question with everything its answer depends on. */
export interface SlowRequest extends Strictness {
  readonly question: Question
  /** The sender transfers this buffer. */
  readonly input: Uint8Array | undefined
  /** The time of the decision, in milliseconds since the epoch. */
  readonly nowMs: number
  /** Recorded results of calls in earlier evaluations of the same decision. */
  readonly recorded?: readonly PackedCall[] | undefined
  /** True if the sender can answer requests to other hosts. */
  readonly allowsRequests?: boolean
  /** True to return printed lines. */
  readonly wantsPrinted?: boolean
  /** True to return the trace of policies with markers. A failure is then part of the answer. */
  readonly wantsTrace?: boolean
}

/**
 * A message to the thread. A snapshot replaces the previous one and precedes its first question.
 */
export type ToSlowThread =
  | { readonly type: 'load'; readonly snapshot: PackedSnapshot; readonly limits: EvaluationLimits }
  | { readonly type: 'evaluate'; readonly request: SlowRequest }

/** A message of the thread: evaluation started, answered or failed. */
export type FromSlowThread =
  | { readonly type: 'begun'; readonly systemId: number | undefined }
  | ({ readonly type: 'answered' } & Answered)
  | { readonly type: 'failed'; readonly failure: SlowFailure }

/** An answer or a missing call, with its cost, recorded calls and printed lines. */
export interface Answered {
  readonly answer: Answer | MissingAnswer
  readonly cost?: CostMeasurements | undefined
  /** The calls with results that may differ next time. */
  readonly recorded?: readonly PackedCall[] | undefined
  readonly printed?: readonly string[] | undefined
  readonly trace?: Trace | undefined
  /** Why there is no answer. The trace ends where the evaluation failed. */
  readonly failure?: SlowFailure | undefined
}

/**
 * An error as plain data. An aborted evaluation is sent as such, and the receiver adds source
 * locations.
 */
export type SlowFailure =
  | {
      readonly type: 'abort'
      readonly message: string
      readonly isOverBudget: boolean
      readonly builtinError: FailedCall | undefined
    }
  | {
      readonly type: 'error'
      readonly kind: ErrorKind
      readonly code: string
      readonly message: string
      readonly details: readonly ErrorDetail[]
      /** Details for debugging an internal error. */
      readonly stack: string | undefined
    }

/** A thread that evaluates. The thread that started it enforces time limits by terminating it. */
export interface SlowThread {
  readonly send: (message: ToSlowThread) => void
  /** Terminates the thread immediately. */
  readonly kill: () => void
}

/** The events of a thread. */
export interface SlowThreadEvents {
  readonly heard: (message: FromSlowThread) => void
  /** The thread ended by itself, because it ran out of memory or crashed. */
  readonly ended: (problem: { readonly isOutOfMemory: boolean; readonly cause: Error | undefined }) => void
}

export type StartSlowThread = (events: SlowThreadEvents) => SlowThread

/** Returns the buffers to transfer instead of copying: that of an input that fills it. */
export function givenAway(message: ToSlowThread): ArrayBuffer[] {
  const input = message.type === 'evaluate' ? message.request.input : undefined
  if (input === undefined || !(input.buffer instanceof ArrayBuffer)) return []
  return input.byteLength === input.buffer.byteLength ? [input.buffer] : []
}
