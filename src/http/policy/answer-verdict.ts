import { whenThere } from '../../lib/when-there.js'
import type { AskOptions, Evaluations } from '../../pdp/slow/evaluations.js'
import type { Exchange } from '../exchange/exchange.js'
import type { Decision } from './decision.js'

/** Decides by the reasons against an input, records it, and answers: 200 without any, 401 with them. */
export function answerVerdict(
  exchange: Exchange,
  decision: Decision,
  input: Uint8Array,
  findReasons: (
    evaluations: Evaluations,
    options: AskOptions,
  ) => readonly string[] | Promise<readonly string[]>,
): void | Promise<void> {
  const decided = decision.decide(input, findReasons, (reasons) => {
    const outcome = reasons.length > 0 ? 'deny' : 'allow'
    return { outcome, reasons, result: JSON.stringify(reasons) } as const
  })
  return whenThere(decided, ({ reasons }) => {
    if (reasons.length > 0) exchange.send(401, denialBody(reasons, decision.id))
    else exchange.send(200, allowBody(decision.id))
  })
}

/**
 * The body of a denial, safe for the strictest caller: it walks every member of every object, takes any array but
 * `deny` for a list of objects, and breaks on anything else. So there is one array, of strings, and no null.
 */
function denialBody(texts: readonly string[], decisionId: string): string {
  const message = texts.join(', ')
  return `${JSON.stringify({ status: 'DENY', code: 'policy_denied', message, decisionId, deny: texts })}\n`
}

/** The body of an allow: no member called `allow` and no array, which the same callers would walk into. */
function allowBody(decisionId: string): string {
  return `${JSON.stringify({ status: 'ALLOW', code: 'policy_allowed', message: 'allowed', decisionId })}\n`
}
