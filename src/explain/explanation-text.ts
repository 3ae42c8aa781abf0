import type {
  Explanation,
  FailedCondition,
  PackageExplanation,
  RuleExplanation,
  ShownValue,
} from '../rego/index.js'
import { printable } from '../lib/text/shown-text.js'
import { caretLines } from '../lib/text/caret-lines.js'

const STEP = '  '
/** Longest value on a line, in characters. */
const MAX_VALUE = 160

/** Returns an explanation for people: each rule with its location, source line and values. */
export function explanationText({ packages, rulesLeftOut, isCut }: Explanation): string {
  const lines = packages.flatMap(packageLines).slice(0, -1)
  if (lines.length === 0) lines.push('no rule to explain')
  if (rulesLeftOut > 0) lines.push(`${rulesLeftOut} more rules: name a package or rule to see them`)
  if (isCut) lines.push('the evaluation had more values than are shown')
  return printable(`${lines.join('\n')}\n`)
}

/** Returns a text for each rule of an explanation. */
export function ruleTexts({ packages, rulesLeftOut, isCut }: Explanation): string[] {
  return packages.flatMap((one) =>
    one.rules.map((rule) =>
      explanationText({ packages: [{ ...one, rules: [rule] }], rulesLeftOut, isCut }).trimEnd(),
    ),
  )
}

function packageLines({ package: name, title, description, custom, rules }: PackageExplanation): string[] {
  return [
    title === undefined ? name : `${name}: ${title}`,
    ...labelLines(description, custom),
    ...indent(rules.flatMap(ruleLines)),
    // Between two packages.
    '',
  ]
}

function labelLines(description?: string, custom?: RuleExplanation['custom']): string[] {
  const labels = Object.entries(custom ?? {}).map(([key, value]) => `${key}: ${textOf(value)}`)
  return indent([...(description === undefined ? [] : description.trim().split('\n')), ...labels])
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const OUTCOMES = {
  fired: 'fired',
  not_fired: 'did not fire',
  default: 'has its default value',
  not_evaluated: 'was not evaluated',
} as const

function ruleLines(rule: RuleExplanation): string[] {
  const { args, outcome, results, failed, because, title, description, custom } = rule
  const name = args === undefined ? rule.rule : `${rule.rule}(${args.map(short).join(', ')})`
  return [
    `${name} ${OUTCOMES[outcome]}  ${locationOf(rule)}${title === undefined ? '' : `  ${title}`}`,
    ...labelLines(description, custom),
    ...results.flatMap(({ key, value, values, count }) => [
      `${STEP}= ${key === undefined ? '' : `${short(key)}: `}${short(value)}${times(count)}`,
      ...indent(valueLines(values), 2),
    ]),
    ...(failed === undefined ? [] : indent(failedLines(failed))),
    ...indent(because.flatMap(ruleLines)),
  ]
}

function failedLines(failed: FailedCondition): string[] {
  const { samples, count, inEvery, because } = failed
  const shownTimes = samples.reduce((sum, sample) => sum + sample.count, 0)
  return [
    `${locationOf(failed)}: this condition does not hold${times(count)}`,
    ...caretLines(failed.source, failed.col),
    ...indent(
      samples.flatMap(({ values, count: hits }) => {
        const lines = valueLines(values)
        return samples.length > 1 && lines.length > 0 ? [`with${times(hits)}`, ...indent(lines)] : lines
      }),
      2,
    ),
    ...(shownTimes < count ? [`${STEP}${STEP}… ${count - shownTimes} more`] : []),
    ...(inEvery === undefined ? [] : indent([...valueLines(inEvery.element), ...failedLines(inEvery)])),
    ...indent(because.flatMap(ruleLines)),
  ]
}

function times(count: number): string {
  return count > 1 ? ` (${count} times)` : ''
}

function valueLines(values: readonly ShownValue[]): string[] {
  return values.map(({ term, values: texts }) => {
    const [only] = texts
    if (only === undefined) return `${term} is undefined`
    return texts.length === 1
      ? `${term} = ${short(only)}`
      : `${term} is one of ${texts.map(short).join(', ')}`
  })
}

function short(text: string): string {
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text
}

function locationOf({ file, row, col }: Pick<RuleExplanation, 'file' | 'row' | 'col'>): string {
  return `${file}:${row}:${col}`
}

function indent(lines: readonly string[], levels = 1): string[] {
  return lines.map((line) => (line === '' ? line : `${STEP.repeat(levels)}${line}`))
}
