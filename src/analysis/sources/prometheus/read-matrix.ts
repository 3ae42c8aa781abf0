import { z } from 'zod'
import { isRecord } from '../../../lib/validation/record.js'

/** One series of an answer: its labels, and its samples, `[unix seconds, "value"]`, unread. */
export interface MatrixSeries {
  readonly labels: Readonly<Record<string, string>>
  readonly samples: readonly unknown[]
}

/** The problem of series that are not numbers. */
export const NATIVE_HISTOGRAMS =
  'the query gives native histograms: take a number from them, as histogram_quantile does'

const Answer = z.object({
  status: z.literal('success'),
  data: z.object({
    resultType: z.string(),
    result: z.array(z.unknown()),
  }),
  warnings: z.array(z.string()).nullish(),
  infos: z.array(z.string()).nullish(),
})

/** The series of a whole answer, as a file may hold one, or a sentence if it is not an answer. */
export function readMatrix(json: unknown): readonly MatrixSeries[] | string {
  const problem = refuseOther(json)
  if (problem !== undefined) return problem
  const series: MatrixSeries[] = []
  for (const raw of Answer.parse(json).data.result) {
    const one = readSeries(raw)
    if (typeof one === 'string') return one
    series.push(one)
  }
  return series
}

/**
 * Why something is not an answer to `query_range` of Prometheus, of compatible servers, or of
 * Loki's metric queries, judged without its series. Undefined if it is one.
 */
export function refuseOther(json: unknown): string | undefined {
  const answer = Answer.safeParse(json)
  if (!answer.success) return 'the answer is not the JSON of a range query'
  const { resultType } = answer.data.data
  if (resultType === 'matrix') return undefined
  return `the query gives ${nameOf(resultType)}, where a range of numbers is wanted`
}

/**
 * One series, or a sentence if it is not one. Checked by hand: there may be hundreds of thousands,
 * and a schema copies each of them.
 */
export function readSeries(raw: unknown): MatrixSeries | string {
  const unreadable = 'the answer has a series that cannot be read'
  if (!isRecord(raw)) return unreadable
  const { metric = {}, values = [], histograms = [] } = raw
  if (!isLabels(metric) || !Array.isArray(values) || !Array.isArray(histograms)) return unreadable
  if (histograms.length > 0) {
    return NATIVE_HISTOGRAMS
  }
  return { labels: metric, samples: values }
}

function isLabels(value: unknown): value is Readonly<Record<string, string>> {
  return isRecord(value) && Object.values(value).every((label) => typeof label === 'string')
}

/**
 * Whether a remark means that data may be missing. The engine's remarks about the query itself have
 * these beginnings (Prometheus, util/annotations). All others come from storage: a store of Thanos
 * or a remote read that did not answer.
 */
export function isAboutData(warning: string): boolean {
  return !/^PromQL (?:warning|info)\b/.test(warning)
}

function nameOf(resultType: string): string {
  return resultType === 'streams' ? 'log lines' : `a result of type "${resultType.slice(0, 40)}"`
}

/** The labels of a series as PromQL writes them. */
export function labelText(labels: Readonly<Record<string, string>>): string {
  const { __name__: name = '', ...rest } = labels
  const matchers = Object.entries(rest).map(([label, value]) => `${label}=${JSON.stringify(value)}`)
  return `${name}{${matchers.join(', ')}}`
}
