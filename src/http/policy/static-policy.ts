import { AppError } from '../../errors.js'
import { decodeString } from '../../lib/json/decode-string.js'
import { locateInput } from '../../lib/json/locate-input.js'
import { scanSpace } from '../../lib/json/scan-space.js'
import { scanValue } from '../../lib/json/scan-value.js'
import { evaluateStaticPolicies, selectPackages } from '../../pdp/evaluate-static-policies.js'
import type { Snapshot } from '../../pdp/snapshot.js'
import type { Exchange } from '../exchange.js'
import { readBody } from '../read-body.js'
import { requireJsonType } from '../require-json-type.js'
import { answerVerdict } from './answer-verdict.js'
import { Decision } from './decision.js'
import { missingFields } from './missing-fields.js'
import type { PolicyContext } from './policy-context.js'

const QUOTE = 0x22
const LOOKS_LIKE_JSON = /^[[{"]/

/** `POST /v1/staticPolicy/eval`: 200 allowed, 401 denied with the reasons of all static policies, 500 not evaluated. */
export async function answerStaticPolicy(context: PolicyContext, exchange: Exchange): Promise<void> {
  requireJsonType(exchange)
  const body = await readBody(exchange, context.maxBodyBytes)
  const input = readInput(body)
  const decision = new Decision(context, exchange, 'static', 'staticPolicy/eval')
  answerVerdict(exchange, decision, input, () => {
    const packages = requirePackages(decision.snapshot, context.staticPackages)
    const { denials } = evaluateStaticPolicies(decision.snapshot, packages, input, decision.newCall())
    return denials.map(({ text }) => text)
  })
}

/** The input document: JSON as it is, or the JSON that a text holds. */
function readInput(body: Uint8Array): Uint8Array {
  const extent = locateInput(body)
  if (extent === undefined) throw missingFields(['input'])
  const bytes = body.subarray(extent.start, extent.end)
  return bytes[0] === QUOTE ? parseText(bytes) : bytes
}

/** A text that starts like JSON must be JSON: taken as a mere text, it would be denied by no policy. */
function parseText(literal: Uint8Array): Uint8Array {
  const text = Buffer.from(decodeString(literal, 0, literal.length))
  try {
    const end = scanValue(text, 0)
    if (scanSpace(text, end) === text.length) return text.subarray(scanSpace(text, 0), end)
    throw new AppError('invalid', 'text after the document')
  } catch (cause) {
    if (!LOOKS_LIKE_JSON.test(text.toString().trimStart())) return literal
    const reason = cause instanceof AppError ? cause.message : 'not JSON'
    throw new AppError('invalid', `input is text that holds malformed JSON: ${reason}`, { cause })
  }
}

function requirePackages(snapshot: Snapshot, patterns: readonly string[]): string[] {
  const packages = selectPackages(snapshot, patterns)
  if (packages.length > 0) return packages
  throw new AppError(
    'evaluation_failed',
    `no static policy is loaded: no package matches ${patterns.join(', ')} (policies.staticPackages)`,
    { code: 'undefined_policy' },
  )
}
