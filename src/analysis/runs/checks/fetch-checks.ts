import { redactWords } from '../../../lib/redaction/redact-text.js'
import type { DocumentAnswer, DocumentSource, FetchBudget } from '../../sources.js'
import type { AnalysisSource } from '../../sources/make-sources.js'
import type { PlannedCheck, PlannedChecks, PlannedSide } from '../definitions/plan.js'
import type { AskRule, CheckData } from './check.js'

const MAX_SCORE = 100
/** Of a value that is none, in a sentence. */
const MAX_SHOWN = 100

/** What checks are asked with beside their documents. */
export interface CheckAsking {
  readonly application: string
  readonly service: string
  readonly sources: ReadonlyMap<string, AnalysisSource>
  readonly remaining: () => FetchBudget
  readonly windowOf: (side: PlannedSide) => { readonly startMs: number; readonly endMs: number }
  readonly askRule: AskRule
}

/** Fetches the documents of each check and asks its rule about them. Never rejects: what goes wrong is part of the data. */
export async function fetchChecks(
  planned: PlannedChecks,
  asking: CheckAsking,
): Promise<readonly CheckData[]> {
  const asked: CheckData[] = []
  for (const check of planned.checks) asked.push(await fetchCheck(check, planned, asking))
  return asked
}

async function fetchCheck(
  { name, source: sourceName, query, rule }: PlannedCheck,
  { baseline, canary }: PlannedChecks,
  asking: CheckAsking,
): Promise<CheckData> {
  const about = { name, rule }
  const source = asking.sources.get(sourceName)?.documents
  if (source === undefined) {
    const problem = `analysis.sources has no source ${sourceName} of documents (type web)`
    return { ...about, queries: { baseline: query, canary: query }, problem }
  }
  const fetchSide = (side: PlannedSide): ReturnType<DocumentSource['fetchDocument']> =>
    source.fetchDocument({ query, scope: side.scope, ...asking.windowOf(side) }, asking.remaining())
  const [before, now] = await Promise.all([fetchSide(baseline), fetchSide(canary)])
  const queries = { baseline: redactWords(before.query), canary: redactWords(now.query) }
  const lost = problemOf('canary', now) ?? problemOf('baseline', before)
  if (lost !== undefined) return { ...about, queries, problem: lost }
  const input = {
    ...{ application: asking.application, service: asking.service },
    baseline: sideInput(baseline, before, asking),
    canary: sideInput(canary, now, asking),
  }
  return { ...about, queries, ...(await valueOf(rule, input, asking.askRule)) }
}

function problemOf(side: string, answer: DocumentAnswer): string | undefined {
  return 'problem' in answer ? redactWords(`${side}: ${answer.problem}`) : undefined
}

function sideInput(side: PlannedSide, answer: DocumentAnswer, { windowOf }: CheckAsking): object {
  return { document: 'document' in answer ? answer.document : null, scope: side.scope, ...windowOf(side) }
}

/** Only what says yes, no, or how much of it is a value: a rule that is not defined has said nothing. */
async function valueOf(
  rule: string,
  input: object,
  askRule: AskRule,
): Promise<Pick<CheckData, 'value' | 'problem'>> {
  const said = await askRule(rule, input)
  if ('problem' in said) return { problem: redactWords(`the rule ${rule} ${said.problem}`) }
  const { value } = said
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
