import { AppError, toError } from '../../errors/app-error.js'
import { decodeString } from '../../lib/json/scan/decode-string.js'
import { OPEN_OBJECT, QUOTE } from '../../lib/json/scan/json-bytes.js'
import { locateInput } from '../../lib/json/scan/locate-input.js'
import { locateValue } from '../../lib/json/scan/locate-value.js'
import { selectPackages, type Snapshot } from '../../rego/index.js'
import type { Exchange } from '../exchange/exchange.js'
import { readBody, requireJsonType } from '../input/read-body.js'
import { answerVerdict } from './answer-verdict.js'
import { Decision } from './decision.js'
import { missingFields } from '../../lib/validation/problem-collector.js'
import type { PolicyContext } from './policy-context.js'

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
