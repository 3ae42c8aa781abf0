/**
 * The body of a denial, safe for the strictest caller: it walks every member of every object, takes any array but
 * `deny` for a list of objects, and breaks on anything else. So there is one array, of strings, and no null.
 */
export function denialBody(texts: readonly string[], decisionId: string): string {
  const message = texts.join(', ')
  return `${JSON.stringify({ status: 'DENY', code: 'policy_denied', message, decisionId, deny: texts })}\n`
}

/** The body of an allow: no member called `allow` and no array, which the same callers would walk into. */
export function allowBody(decisionId: string): string {
  return `${JSON.stringify({ status: 'ALLOW', code: 'policy_allowed', message: 'allowed', decisionId })}\n`
}
