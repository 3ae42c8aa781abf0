import { whenThere } from '../../lib/when-there.js'
import {
  denialsByPackage,
  textsOf,
  type EvaluateOptions,
  type Denial,
  type Evaluations,
  type PackageDenials,
} from '../../rego/index.js'
import type { Exchange } from '../exchange/exchange.js'
import { parseDataQuery, searchParams } from './data-query.js'
import type { Decision } from './decision.js'

/**
 * Decides by the reasons against an input, records it, and answers: 200 without any, 401 with them. Which packages they come from is
 * in the record, and with `explain=packages` in the answer.
 */
export function answerVerdict(
  exchange: Exchange,
  decision: Decision,
  input: Uint8Array,
  findDenials: (
    evaluations: Evaluations,
    options: EvaluateOptions,
  ) => readonly Denial[] | Promise<readonly Denial[]>,
): void | Promise<void> {
  const query = searchParams(exchange)
  const decided = decision.decide(
    input,
    findDenials,
    (denials) => {
      if (denials.length === 0) return { outcome: 'allow', texts: [], packages: [], result: '[]' } as const
      const [texts, packages] = [textsOf(denials), denialsByPackage(denials)]
      return { outcome: 'deny', texts, packages, result: JSON.stringify(texts) } as const
    },
    parseDataQuery(query).strictBuiltinErrors,
  )
  return whenThere(decided, ({ texts, packages }) => {
    const shown = query?.get('explain') === 'packages' ? packages : undefined
    if (texts.length > 0) exchange.send(401, denialBody(texts, decision.id, shown))
    else exchange.send(200, allowBody(decision.id, shown))
  })
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
