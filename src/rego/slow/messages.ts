import type { ErrorDetail, ErrorKind } from '../../errors/app-error.js'
import type { PackedCall } from '../builtins/shared/recorded-calls.js'
import type { CostFigures } from '../metering/evaluation-cost.js'
import type { Strictness } from './strict-builtin-errors.js'
import type { EvaluationLimits } from '../wasm/evaluation-limits.js'
import type { FailedCall } from '../wasm/module/evaluation-abort.js'
import type { PackedSnapshot } from './packed-snapshot.js'
import type { Answer, MissingAnswer, Question } from './question.js'

/** What a slow thread is asked: one question with all that its answer depends on. */
export interface SlowRequest extends Strictness {
  readonly question: Question
  /** Who sends it gives it away. */
  readonly input: Uint8Array | undefined
  /** The time of the decision, in milliseconds since the epoch. */
  readonly nowMs: number
  /** What calls gave when the same decision was evaluated before. */
  readonly recorded?: readonly PackedCall[] | undefined
  /** Whether who asks finds out what only others can answer. */
  readonly asksOutside?: boolean
  /** Whether what policies print is wanted. */
  readonly wantsPrinted?: boolean
}

/** To the thread. A snapshot replaces the one before it, and comes before the first question about it. */
export type ToSlowThread =
  | { readonly type: 'load'; readonly snapshot: PackedSnapshot; readonly limits: EvaluationLimits }
  | { readonly type: 'ask'; readonly request: SlowRequest }

/** From the thread: it has begun to evaluate, and then it has an answer or has failed. */
export type FromSlowThread =
  | { readonly type: 'begun'; readonly systemId: number | undefined }
  | ({ readonly type: 'answered' } & Answered)
  | { readonly type: 'failed'; readonly failure: SlowFailure }

/** An answer, or that it takes another's first, and what goes with it. */
export interface Answered {
  readonly answer: Answer | MissingAnswer
  readonly cost?: CostFigures | undefined
  /** The calls that may give something else another time. */
  readonly recorded?: readonly PackedCall[] | undefined
  readonly printed?: readonly string[] | undefined
}

/** An error as data. An evaluation that was aborted is told as such: where it came from, its sources are at hand. */
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
      /** What a person who looks for the defect needs, where it is one. */
      readonly stack: string | undefined
    }

/** A thread that evaluates. It knows nothing of budgets from outside: who started it kills it. */
export interface SlowThread {
  readonly send: (message: ToSlowThread) => void
  /** Ends it at once, whatever it is doing. */
  readonly kill: () => void
}

/** What is heard of a thread. */
export interface SlowThreadEvents {
  readonly heard: (message: FromSlowThread) => void
  /** It ended without having been killed: its memory did not suffice, or it is defective. */
  readonly ended: (problem: { readonly isOutOfMemory: boolean; readonly cause: Error | undefined }) => void
}

export type StartSlowThread = (events: SlowThreadEvents) => SlowThread

/** What goes over to the thread with a message instead of being copied twice: the buffer of an input that fills it. */
export function givenAway(message: ToSlowThread): ArrayBuffer[] {
  const input = message.type === 'ask' ? message.request.input : undefined
  if (input === undefined || !(input.buffer instanceof ArrayBuffer)) return []
  return input.byteLength === input.buffer.byteLength ? [input.buffer] : []
}
