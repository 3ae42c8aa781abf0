import type { Extent } from '../../lib/json/scan/json-bytes.js'
import { refuseMore } from '../../lib/json/scan/locate-value.js'
import { readMembers } from '../../lib/json/scan/scan-members.js'
import { scanSpace } from '../../lib/json/scan/scan-value.js'
import type { Exchange } from '../exchange/exchange.js'
import { answerVerdict } from './answer-verdict.js'
import { Decision } from './decision.js'
import { missingFields } from '../../lib/validation/problem-collector.js'
import { planFor } from './plan-cache.js'
import type { PolicyContext } from './policy-context.js'

/** A flat body is told by one of these; beside `input`, which the author of a stage may have put there, by both. */
const MARKS: readonly string[] = ['executionId', 'payloadConstraint']
/** Both of them with the shortest values take this much. */
const MARKS_BYTES = '"executionId":0,"payloadConstraint":0,'.length
/** Contract 4.7; `imageIds` is no longer sent by anyone, and `user` may be in `trigger`. */
const REQUIRED: readonly string[] = [
  'payloadConstraint',
  'startTime',
  'application',
  'name',
  'stage',
  'executionId',
]

/**
 * The members of a body in the orchestrator's flat dialect, or undefined when it is another one. `input` is what OPA's dialect takes for the input, if
 * anything. Raises the errors of `scanValue`.
 */
export function readFlatBody(
  body: Uint8Array,
  input: Uint8Array | undefined,
): Map<string, Extent> | undefined {
  if (input !== undefined && body.length - input.length < MARKS_BYTES) return undefined
  const members = readMembers(body)
  const marks = MARKS.filter((mark) => members?.has(mark))
  return marks.length >= (input === undefined ? 1 : MARKS.length) ? members : undefined
}

/** The runtime policy at `rawPath` over a flat body, all of which is the input: 200 allowed, 401 denied. */
export async function answerRuntimePolicy(
  context: PolicyContext,
  exchange: Exchange,
  rawPath: string,
  body: Uint8Array,
  members: ReadonlyMap<string, Extent>,
): Promise<void> {
  // The orchestrator's stage shows them.
  exchange.showsErrors = true
  refuseTextBehind(body, members)
  requireFields(body, members)
  const decision = new Decision(context, exchange, 'runtime', rawPath)
  await answerVerdict(exchange, decision, body, (evaluations, options) =>
    evaluations.runtime(planFor(decision.snapshot, rawPath), body, options),
  )
}

/** Other parsers may take it for the document. Everything up to the last member's value has been scanned. */
function refuseTextBehind(body: Uint8Array, members: ReadonlyMap<string, Extent>): void {
  let lastEnd = 0
  for (const { end } of members.values()) lastEnd = Math.max(lastEnd, end)
  refuseMore(body, scanSpace(body, lastEnd) + 1)
}

function requireFields(body: Uint8Array, members: ReadonlyMap<string, Extent>): void {
  const missing = REQUIRED.filter((name) => !members.has(name))
  if (!members.has('user') && !triggerHasUser(body, members)) missing.push('user')
  if (missing.length > 0) throw missingFields(missing)
}

function triggerHasUser(body: Uint8Array, members: ReadonlyMap<string, Extent>): boolean {
  const trigger = members.get('trigger')
  return trigger !== undefined && readMembers(body, trigger.start)?.has('user') === true
}
