import { AppError, toError } from '../../errors/app-error.js'
import { decodeString } from '../../lib/json/scan/decode-string.js'
import { OPEN_OBJECT, QUOTE } from '../../lib/json/scan/json-bytes.js'
import type { Extent } from '../../lib/json/scan/json-bytes.js'
import { locateInput } from '../../lib/json/scan/locate-input.js'
import { locateValue, refuseMore } from '../../lib/json/scan/locate-value.js'
import {
  selectPackages,
  denialsByPackage,
  textsOf,
  type Snapshot,
  type AskOptions,
  type Denial,
  type Evaluations,
  type PackageDenials,
} from '../../rego/index.js'
import type { Exchange } from '../exchange/exchange.js'
import { readBody, requireJsonType } from '../input/read-body.js'
import { Decision } from './decision.js'
import type { PolicyContext } from './decision.js'
import { missingFields } from '../../lib/validation/problem-collector.js'
import { readMembers } from '../../lib/json/scan/read-members.js'
import { scanSpace } from '../../lib/json/scan/scan-value.js'
import { planFor } from './plan-cache.js'
import { parseDataQuery, searchParams } from './data-query.js'

const NEEDED = 'input must be a JSON object, or text that holds one'

/** `POST /v1/staticPolicy/eval`: 200 allowed, 401 denied with the reasons of all static policies, 500 not evaluated. */
export async function answerStaticPolicy(context: PolicyContext, exchange: Exchange): Promise<void> {
  requireJsonType(exchange)
  const body = await readBody(exchange, context.maxBodyBytes)
  const input = readInput(body)
  const decision = new Decision(context, exchange, 'static', 'staticPolicy/eval')
  await answerVerdict(exchange, decision, input, (evaluations, options) => {
    const packages = requirePackages(decision.snapshot, context.staticPackages)
    return evaluations.static(decision.snapshot, packages, input, options)
  })
}

/**
 * The input document, as JSON or in a text that holds it. It must be an object: of anything else, all that policies read is
 * undefined, so that they would allow it.
 */
function readInput(body: Uint8Array): Uint8Array {
  const extent = locateInput(body, true)
  if (extent === undefined) throw missingFields(['input'])
  const bytes = body.subarray(extent.start, extent.end)
  const input = bytes[0] === QUOTE ? parseText(bytes) : bytes
  if (input[0] === OPEN_OBJECT) return input
  throw new AppError('invalid', `${NEEDED}: it holds another kind of value`)
}

function parseText(literal: Uint8Array): Uint8Array {
  const text = decodeString(literal, 0, literal.length)
  try {
    const { start, end } = locateValue(text)
    return text.subarray(start, end)
  } catch (cause) {
    throw new AppError('invalid', `${NEEDED}: ${toError(cause).message}`, { cause })
  }
}

function requirePackages(snapshot: Snapshot, patterns: readonly string[]): readonly string[] {
  const packages = selectPackages(snapshot, patterns)
  if (packages.length > 0) return packages
  throw new AppError(
    'evaluation_failed',
    `no static policy is loaded: no package matches ${patterns.join(', ')} (policies.staticPackages)`,
    { code: 'undefined_policy' },
  )
}

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

/**
 * Decides by the reasons against an input, records it, and answers: 200 without any, 401 with them. Which packages they come from is
 * in the record, and with `explain=packages` in the answer.
 */
async function answerVerdict(
  exchange: Exchange,
  decision: Decision,
  input: Uint8Array,
  findDenials: (
    evaluations: Evaluations,
    options: AskOptions,
  ) => readonly Denial[] | Promise<readonly Denial[]>,
): Promise<void> {
  const query = searchParams(exchange)
  const { texts, packages } = await decision.decide(
    input,
    findDenials,
    (denials) => {
      if (denials.length === 0) return { outcome: 'allow', texts: [], packages: [], result: '[]' } as const
      const [texts, packages] = [textsOf(denials), denialsByPackage(denials)]
      return { outcome: 'deny', texts, packages, result: JSON.stringify(texts) } as const
    },
    parseDataQuery(query).strictBuiltinErrors,
  )
  const shown = query?.get('explain') === 'packages' ? packages : undefined
  if (texts.length > 0) exchange.send(401, denialBody(texts, decision.id, shown))
  else exchange.send(200, allowBody(decision.id, shown))
}

/**
 * The body of a denial, safe for the strictest caller: it walks every member of every object, takes any array but
 * `deny` for a list of objects, and breaks on anything else. So there is one array, of strings, and no null; the packages are for those
 * who ask for them.
 */
function denialBody(
  texts: readonly string[],
  decisionId: string,
  packages: readonly PackageDenials[] | undefined,
): string {
  const message = texts.join('; ')
  const body = { status: 'DENY', code: 'policy_denied', message, decisionId, deny: texts, packages }
  return `${JSON.stringify(body)}\n`
}

/** The body of an allow: no member called `allow` and no array, which the same callers would walk into. */
function allowBody(decisionId: string, packages: readonly PackageDenials[] | undefined): string {
  const body = { status: 'ALLOW', code: 'policy_allowed', message: 'allowed', decisionId, packages }
  return `${JSON.stringify(body)}\n`
}
