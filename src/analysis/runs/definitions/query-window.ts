const RANGE = /\[\s*((?:\d+(?:ms|[smhdwy]))+)\s*(?::[^\]]*)?\]/g
const PART = /(\d+)(ms|[smhdwy])/g
const UNIT_MS: Readonly<Record<string, number>> = {
  ...{ ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000, y: 31_536_000_000 },
}
/** Text between quotes is no code. */
const STRING = /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`/g

/** How many steps the longest range of a query in PromQL or LogQL spans, as 5 for `rate(x[5m])` at a minute; undefined where it names none. */
export function windowInSteps(query: string, stepMs: number): number | undefined {
  const ranges = [...query.replace(STRING, '').matchAll(RANGE)].map(([, text = '']) =>
    [...text.matchAll(PART)].reduce(
      (sum, [, count, unit]) => sum + Number(count) * (UNIT_MS[unit ?? ''] ?? 0),
      0,
    ),
  )
  return ranges.length === 0 ? undefined : Math.max(1, Math.round(Math.max(...ranges) / stepMs))
}
