/**
 * How the orchestrator's plugins read the body of a policy answer: a walk over every member that
 * searches arrays with the name of the result key in any letter case. The strict plugins fail on
 * anything unexpected. The tolerant ones skip scalars in arrays. Both functions throw where the
 * plugin would crash.
 */
type ClientWalk = (body: string, resultKey: string) => string[]

export const strictWalk: ClientWalk = (body, resultKey) =>
  walkObject(JSON.parse(body), resultKey.toLowerCase(), false)

export const tolerantWalk: ClientWalk = (body, resultKey) =>
  walkObject(JSON.parse(body), resultKey.toLowerCase(), true)

function walkObject(value: unknown, key: string, skipsScalars: boolean): string[] {
  if (!isObject(value)) throw new Error(`not an object: ${JSON.stringify(value)}`)
  return Object.entries(value).flatMap(([name, member]) => {
    if (name.toLowerCase() === key) return reasonsOf(member)
    if (isObject(member)) return walkObject(member, key, skipsScalars)
    if (!Array.isArray(member)) return []
    return member.flatMap((element: unknown) =>
      skipsScalars && isScalar(element) ? [] : walkObject(element, key, skipsScalars),
    )
  })
}

function reasonsOf(value: unknown): string[] {
  if (!Array.isArray(value)) throw new Error(`the reasons are no array: ${JSON.stringify(value)}`)
  return value.map(asText)
}

/** The values that Gson's `getAsString` accepts. */
function asText(value: unknown): string {
  if (Array.isArray(value) && value.length === 1) return asText(value[0])
  if (isScalar(value)) return String(value)
  throw new Error(`no text: ${JSON.stringify(value)}`)
}

function isScalar(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
