import { toAppError } from '../../errors/app-error.js'
import { isWellFormed } from '../../lib/json/scan/locate-value.js'
import type { StoredDecision } from '../../store/ports/decision-store.js'
import { makeHideSecrets } from '../hide-secrets.js'
import type { HideSecrets } from '../hide-secrets.js'
import { decisionEvent, withoutDetail } from './decision-event.js'
import type { EventLabels } from './decision-event.js'
import { maskEvent, parseMaskRules } from './mask-event.js'

/** The rules of policies about events. Both raise the errors of an evaluation. */
export interface LogRules {
  /** Returns whether an event (JSON) is dropped. */
  readonly isDropped: (event: string) => boolean
  /** Returns the masks of an event as JSON; undefined if the rule is undefined. */
  readonly masksOf: (event: string) => string | undefined
}

/** A decision as it leaves the service. */
export interface ShapedDecision {
  /** The event in OPA's format. */
  readonly event: string
  /** The decision for other members of an upload, without what the event hides. */
  readonly decision: StoredDecision
}

/** Counts what the rules did. */
export interface ShapingCounts {
  dropped: number
  maskFailed: number
}

/** Returns a decision as it leaves the service; undefined if it does not. */
export type ShapeDecision = (decision: StoredDecision) => ShapedDecision | undefined

/**
 * Creates the function that turns decisions into events. `rules` returns the current rules,
 * undefined if policies have none. If a rule fails or does not end, the event has neither input,
 * result nor anything that may quote them.
 */
export function makeShapeDecision(
  labels: EventLabels,
  rules: () => LogRules | undefined,
  counts: ShapingCounts,
): ShapeDecision {
  return (decision) => {
    const current = rules()
    if (current === undefined) return { event: decisionEvent(decision, labels), decision }
    try {
      const shaped = shape(decision, labels, current)
      if (shaped === undefined) counts.dropped += 1
      return shaped
    } catch (raw) {
      toAppError(raw)
      counts.maskFailed += 1
      const bare = bareDecision(decision)
      return { event: decisionEvent(bare, labels), decision: bare }
    }
  }
}

function shape(given: StoredDecision, labels: EventLabels, rules: LogRules): ShapedDecision | undefined {
  const decision = withoutCutValues(given)
  const event = decisionEvent(decision, labels)
  if (rules.isDropped(event)) return undefined
  const masks = rules.masksOf(event)
  const parsed = masks === undefined ? [] : parseMaskRules(masks)
  if (parsed.length === 0) return { event, decision }
  const masked = maskEvent(event, parsed)
  if (masked.hidden.length === 0) return { event: masked.event, decision }
  const hiding = hideIn(decision, makeHideSecrets(masked.hidden))
  return { event: maskEvent(decisionEvent(hiding, labels), parsed).event, decision: hiding }
}

/** Rules cannot find anything in the start of a value. */
function withoutCutValues(decision: StoredDecision): StoredDecision {
  const { inputTruncated, input, result } = decision
  const resultTruncated = decision.resultTruncated || !isWhole(result)
  return {
    ...decision,
    input: inputTruncated || !isWhole(input) ? null : input,
    result: resultTruncated ? null : result,
    resultTruncated,
  }
}

function isWhole(json: Uint8Array | null): boolean {
  return json === null || isWellFormed(json)
}

/** Hides masked values in the members that rules cannot change. The reasons repeat the result. */
function hideIn(decision: StoredDecision, hide: HideSecrets): StoredDecision {
  const hidden = (text: string | null): string | null => (text === null ? null : hide(text, false))
  return {
    ...decision,
    error: decision.error === null ? null : (hide(decision.error, false) ?? '[masked]'),
    application: hidden(decision.application),
    executionId: hidden(decision.executionId),
    packages: null,
  }
}

function bareDecision(decision: StoredDecision): StoredDecision {
  return {
    ...withoutDetail(decision),
    error: decision.error === null ? null : '[masked]',
    ...{ application: null, executionId: null, packages: null },
  }
}
