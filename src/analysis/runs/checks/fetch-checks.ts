import { redactWords } from '../../../lib/redaction/redact-text.js'
import type { DocumentAnswer, DocumentSource, FetchBudget } from '../../sources.js'
import type { AnalysisSource } from '../../sources/make-sources.js'
import type { PlannedCheck, PlannedChecks, PlannedSide } from '../definitions/plan.js'
import type { EvaluateRule, CheckData } from './check.js'

const MAX_SCORE = 100
/** Maximum length of an invalid value in a message. */
const MAX_SHOWN = 100

/** The context of checks, in addition to their documents. */
export interface CheckContext {
  readonly application: string
  readonly service: string
  readonly sources: ReadonlyMap<string, AnalysisSource>
  readonly remaining: () => FetchBudget
  readonly windowOf: (side: PlannedSide) => { readonly startMs: number; readonly endMs: number }
  readonly evaluateRule: EvaluateRule
}

/**
 * Fetches the documents of each check and evaluates its rule. Never rejects: problems are part of
 * the data.
 */
export async function fetchChecks(
  planned: PlannedChecks,
  context: CheckContext,
): Promise<readonly CheckData[]> {
  const fetched: CheckData[] = []
  for (const check of planned.checks) fetched.push(await fetchCheck(check, planned, context))
  return fetched
}

async function fetchCheck(
  { name, source: sourceName, query, rule }: PlannedCheck,
  { baseline, canary }: PlannedChecks,
  context: CheckContext,
): Promise<CheckData> {
  const about = { name, rule }
  const source = context.sources.get(sourceName)?.documents
  if (source === undefined) {
    const problem = `analysis.sources has no source ${sourceName} of documents (type web)`
    return { ...about, queries: { baseline: query, canary: query }, problem }
  }
  const fetchSide = (side: PlannedSide): ReturnType<DocumentSource['fetchDocument']> =>
    source.fetchDocument({ query, scope: side.scope, ...context.windowOf(side) }, context.remaining())
  const [before, now] = await Promise.all([fetchSide(baseline), fetchSide(canary)])
  const queries = { baseline: redactWords(before.query), canary: redactWords(now.query) }
  const lost = problemOf('canary', now) ?? problemOf('baseline', before)
  if (lost !== undefined) return { ...about, queries, problem: lost }
  const input = {
    ...{ application: context.application, service: context.service },
    baseline: sideInput(baseline, before, context),
    canary: sideInput(canary, now, context),
  }
  return { ...about, queries, ...(await valueOf(rule, input, context.evaluateRule)) }
}

function problemOf(side: string, answer: DocumentAnswer): string | undefined {
  return 'problem' in answer ? redactWords(`${side}: ${answer.problem}`) : undefined
}

function sideInput(side: PlannedSide, answer: DocumentAnswer, { windowOf }: CheckContext): object {
  return { document: 'document' in answer ? answer.document : null, scope: side.scope, ...windowOf(side) }
}

/** Accepts a boolean or a score. An undefined rule has no value. */
async function valueOf(
  rule: string,
  input: object,
  evaluateRule: EvaluateRule,
): Promise<Pick<CheckData, 'value' | 'problem'>> {
  const answer = await evaluateRule(rule, input)
  if ('problem' in answer) return { problem: redactWords(`the rule ${rule} ${answer.problem}`) }
  const { value } = answer
  if (typeof value === 'boolean') return { value }
  if (typeof value === 'number' && value >= 0 && value <= MAX_SCORE) return { value }
  const shown = redactWords(shownValue(value))
  return {
    problem: `the rule ${rule} is ${shown}: it must be true, false, or a score from 0 to ${MAX_SCORE}`,
  }
}

function shownValue(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value).slice(0, MAX_SHOWN)
}
