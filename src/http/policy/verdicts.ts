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
  type EvaluateOptions,
  type Evaluations,
  type PackageDenials,
} from '../../rego/index.js'
import type { Exchange } from '../exchange/exchange.js'
import { readBody, requireJsonType } from '../input/read-body.js'
import { shownWarnings } from '../../enforcement/verdict.js'
import type { ShownWarning, Verdict } from '../../enforcement/verdict.js'
import { Decision } from './decision.js'
import type { PolicyContext } from './decision.js'
import { missingFields } from '../../lib/validation/problem-collector.js'
import { readMembers } from '../../lib/json/scan/scan-members.js'
import { scanSpace } from '../../lib/json/scan/scan-value.js'
import { planFor } from './plan-cache.js'
import { parseDataQuery, searchParams } from './data-query.js'

const NEEDED = 'input must be a JSON object, or a string that contains one'

/**
 * `POST /v1/staticPolicy/eval`: 200 if allowed, 401 with the reasons if denied, 500 if not
 * evaluated.
 */
export async function answerStaticPolicy(context: PolicyContext, exchange: Exchange): Promise<void> {
  requireJsonType(exchange)
  const body = await readBody(exchange, context.maxBodyBytes)
  const input = readInput(body)
  const decision = new Decision(context, exchange, 'static', 'staticPolicy/eval', input)
  await answerVerdict(exchange, decision, input, (evaluations, options) => {
    const packages = requirePackages(decision.snapshot, context.staticPackages)
    return context.enforcement.static(evaluations, decision.snapshot, packages, input, options)
  })
}

/**
 * Returns the input document, given as JSON or as a string with JSON. It must be an object: on any
 * other value, everything that policies read is undefined and nothing would be denied.
 */
function readInput(body: Uint8Array): Uint8Array {
  const extent = locateInput(body, true)
  if (extent === undefined) throw missingFields(['input'])
  const bytes = body.subarray(extent.start, extent.end)
  const input = bytes[0] === QUOTE ? parseText(bytes) : bytes
  if (input[0] === OPEN_OBJECT) return input
  throw new AppError('invalid', `${NEEDED}, not another kind of value`)
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

/**
 * Members that mark a flat body. If `input` is present, which a stage's author may have added, both
 * must be.
 */
const MARKS: readonly string[] = ['executionId', 'payloadConstraint']
/** Minimum size of both members. */
const MARKS_BYTES = '"executionId":0,"payloadConstraint":0,'.length
/**
 * Required members of the API specification, 4.7. `imageIds` is no longer sent, and `user` may be
 * in `trigger`.
 */
const REQUIRED: readonly string[] = [
  'payloadConstraint',
  'startTime',
  'application',
  'name',
  'stage',
  'executionId',
]

/**
 * Returns the members of a flat body, or undefined for another dialect. `input` is the input in
 * OPA's dialect. Raises the errors of `scanValue`.
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

/**
 * Evaluates the runtime policy at `rawPath` with the whole flat body as input: 200 if allowed, 401
 * if denied.
 */
export async function answerRuntimePolicy(
  context: PolicyContext,
  exchange: Exchange,
  rawPath: string,
  body: Uint8Array,
  members: ReadonlyMap<string, Extent>,
): Promise<void> {
  // The orchestrator's stage shows errors verbatim.
  exchange.showsErrors = true
  refuseTextBehind(body, members)
  requireFields(body, members)
  const decision = new Decision(context, exchange, 'runtime', rawPath, body)
  await answerVerdict(exchange, decision, body, (evaluations, options) =>
    context.enforcement.runtime(evaluations, planFor(decision.snapshot, rawPath), body, options),
  )
}

/**
 * Rejects text after the document, which other parsers may read instead. Everything up to the end
 * of the last member was scanned before.
 */
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
 * Decides, records the decision and responds: 200 without denials, 401 with them. The record
 * includes the packages with their reasons; the response does with `explain=packages`.
 */
async function answerVerdict(
  exchange: Exchange,
  decision: Decision,
  input: Uint8Array,
  decide: (evaluations: Evaluations, options: EvaluateOptions) => Verdict | Promise<Verdict>,
): Promise<void> {
  const query = searchParams(exchange)
  const { texts, verdict } = await decision.decide(
    input,
    decide,
    (verdict) => {
      if (verdict.denials.length === 0) return { outcome: 'allow', texts: [], verdict, result: '[]' } as const
      const texts = textsOf(verdict.denials)
      return { outcome: 'deny', texts, verdict, result: JSON.stringify(texts) } as const
    },
    parseDataQuery(query).strictBuiltinErrors,
  )
  const shown: ShownReasons = {
    warnings: shownWarnings(verdict.warnings),
    packages: query?.get('explain') === 'packages' ? denialsByPackage(verdict.denials) : undefined,
  }
  if (texts.length > 0) exchange.send(401, denialBody(texts, decision.id, shown))
  else exchange.send(200, allowBody(decision.id, shown))
}

/** What a response has besides its verdict. Absent members are left out. */
interface ShownReasons {
  readonly warnings: readonly ShownWarning[] | undefined
  readonly packages: readonly PackageDenials[] | undefined
}

/**
 * Returns the body of a denial, safe for the strictest client. That client walks every object,
 * reads any array but `deny` as a list of objects, and fails on anything else. So the body has one
 * array of strings, and no null. Packages are included on request only.
 */
function denialBody(texts: readonly string[], decisionId: string, shown: ShownReasons): string {
  const message = texts.join('; ')
  const body = { status: 'DENY', code: 'policy_denied', message, decisionId, deny: texts, ...shown }
  return `${JSON.stringify(body)}\n`
}

/**
 * Returns the body of an allow, without a member `allow` at any depth and without arrays of
 * strings, on which the same client fails.
 */
function allowBody(decisionId: string, shown: ShownReasons): string {
  const body = { status: 'ALLOW', code: 'policy_allowed', message: 'allowed', decisionId, ...shown }
  return `${JSON.stringify(body)}\n`
}
